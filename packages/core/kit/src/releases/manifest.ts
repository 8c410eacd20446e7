/** `release.json`: what a release holds. Its signature vouches for the checksums in it, and so for every file. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";

export const MANIFEST_FILE = "release.json";
export const SIGNATURE_SUFFIX = ".minisig";

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const bytes = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000));
/** A name in the release's own folder, never a path. */
const fileName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/));
const version = v.pipe(v.string(), v.regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[0-9A-Za-z.-]{1,40})?$/));

const build = v.object({
  profile: v.string(),
  /** `linux-x64` and the like: `process.platform` and `process.arch`. */
  target: v.string(),
  /** The binary, compressed with gzip. */
  file: fileName,
  bytes,
  sha256,
  binary: v.object({ bytes, sha256 }),
});

const manifest = v.object({
  format: v.literal(1),
  version,
  commit: v.pipe(v.string(), v.regex(/^[0-9a-z-]{1,64}$/)),
  /** The database schema that its binaries write. */
  schema_version: v.pipe(v.number(), v.integer(), v.minValue(1)),
  builds: v.pipe(v.array(build), v.maxLength(200)),
});

export type ReleaseBuild = v.InferOutput<typeof build>;
export type ReleaseManifest = v.InferOutput<typeof manifest>;

/** Call it with bytes whose signature was verified. Throws UPDATE_REFUSED. */
export function parseReleaseManifest(bytes: Uint8Array): ReleaseManifest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw unreadable();
  }
  const result = v.safeParse(manifest, parsed);
  if (!result.success) throw unreadable();
  return result.output;
}

const unreadable = (): SvcError =>
  new SvcError("UPDATE_REFUSED", `The release's ${MANIFEST_FILE} has a form that this build does not know.`, {
    hint: "This build may be too old to update itself: install the release by hand.",
  });

export const releaseFileName = (release: string, profile: string, target: string): string =>
  `svc-${release}-${profile}-${target}.gz`;
