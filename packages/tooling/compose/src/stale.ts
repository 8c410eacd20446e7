/** Whether a binary in dist/ still is what its sources say. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { readBuildRecord } from "./build-record.ts";
import { readCatalogue } from "./catalogue.ts";
import { inputHashes, type InputHashes } from "./inputs.ts";
import { resolveProfile, type Request } from "./select.ts";
import { sourceOf } from "./source.ts";
import { distDir } from "./target.ts";
import { workspaceRoot } from "./workspace.ts";

export type Staleness = { readonly stale: false } | { readonly stale: true; readonly reason: string };

/**
 * Asks without building: what `npm start` calls. Compares contents, so that a file that was only touched is not a change.
 * @throws SvcError as `resolveProfile` does.
 */
export async function isStale(request: Request | string, root: string = workspaceRoot): Promise<Staleness> {
  const catalogue = readCatalogue(root);
  const selection = resolveProfile(catalogue, typeof request === "string" ? { profile: request } : request);
  const hashes = inputHashes(catalogue, selection, await sourceOf(root));
  return staleness(distDir(root, selection.name, selection.target), hashes);
}

/** @param dir Folder that holds the binary and its build.json. */
export function staleness(dir: string, hashes: InputHashes): Staleness {
  const record = readBuildRecord(dir);
  if (record === undefined) return { stale: true, reason: "not built yet" };
  const size = statSync(join(dir, record.binary.file), { throwIfNoEntry: false })?.size;
  if (size === undefined) return { stale: true, reason: "the binary is gone" };
  if (size !== record.binary.bytes) return { stale: true, reason: "the binary has changed since it was built" };
  const changed = Object.keys(hashes).filter((group) => hashes[group] !== record.inputs[group]);
  return changed.length === 0 ? { stale: false } : { stale: true, reason: `changed: ${changed.join(", ")}` };
}
