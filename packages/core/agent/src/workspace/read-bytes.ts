import { constants } from "node:fs";
import type { Opener } from "@svc/kit/files";
import { needFile } from "./file-error.ts";
import type { PathRules } from "./path-rules.ts";

/** At most `maxBytes` from `offset` on; one byte more is asked for, to know whether there is more. */
export async function readBytes(
  opener: Opener,
  rules: PathRules,
  path: string,
  maxBytes: number,
  offset: number,
): Promise<{ bytes: Uint8Array; truncated: boolean }> {
  await using found = await opener(rules.locate(path));
  await rules.admit(found.realPath);
  needFile(found.stats);
  await using file = await found.reopen(constants.O_RDONLY);
  const wanted = Math.min(maxBytes, Math.max(found.stats.size - offset, UNSIZED_BYTES)) + 1;
  const buffer = Buffer.alloc(wanted);
  let filled = 0;
  while (filled < wanted) {
    const { bytesRead } = await file.read(buffer, filled, wanted - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  const kept = Math.min(filled, maxBytes, wanted - 1);
  return { bytes: buffer.subarray(0, kept), truncated: filled > kept };
}

/** A file that grows while it is read, or whose size says 0, still gets this much. */
const UNSIZED_BYTES = 65_536;
