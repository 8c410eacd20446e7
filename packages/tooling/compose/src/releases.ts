/** `releases.json`: where releases are published and which keys sign them. Each binary carries both, for `svc update`. */
import { SvcError } from "@svc/contract";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { readJson } from "./workspace.ts";

export const RELEASES_FILE = "releases.json";

const schema = v.strictObject({
  /** Folder of the newest release, without a slash at its end; empty: none is published. */
  url: v.union([v.literal(""), v.pipe(v.string(), v.url(), v.startsWith("https://"))]),
  /** Public keys of minisign. The one that signs now, and during a change of keys the next one. */
  keys: v.array(v.pipe(v.string(), v.regex(/^RW[A-Za-z0-9+/]{54}$/))),
});

export type Releases = v.InferOutput<typeof schema>;

/** A workspace without the file publishes nothing. Throws BUILD_FAILED. */
export function readReleases(root: string): Releases {
  const file = join(root, RELEASES_FILE);
  if (!existsSync(file)) return { url: "", keys: [] };
  const result = v.safeParse(schema, readJson(file));
  if (result.success) return result.output;
  throw new SvcError("BUILD_FAILED", `${RELEASES_FILE} is wrong: ${result.issues[0].message}.`, {
    hint: 'It holds "url", an https URL or empty, and "keys", public keys of minisign.',
  });
}
