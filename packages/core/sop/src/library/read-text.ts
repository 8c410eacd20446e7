/** Reads a text file: bounded, as UTF-8, and only what really lies in the workspace. */
import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { sep } from "node:path";
import type { Problem } from "@svc/config";

export interface ReadText {
  readonly text?: string;
  readonly problem?: Problem;
}

/** `root`: real path of the folder that the file must lie in. Never throws. */
export async function readText(file: string, root: string, mostBytes: number): Promise<ReadText> {
  let handle: FileHandle | undefined;
  try {
    // To wait for the writer of a FIFO would be for ever.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return { problem: problemOf(file, "is no file") };
    if (!(await liesIn(file, root, stats)))
      return { problem: problemOf(file, "is a link that leads out of the workspace") };
    // One byte more than it has: what is written to it meanwhile is read the next time.
    const bytes = await readUpTo(handle, Math.min(Number(stats.size), mostBytes) + 1);
    if (bytes.length > mostBytes) return { problem: problemOf(file, "is larger than 256 kB") };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    return faultOf(file, error);
  } finally {
    await handle?.close();
  }
}

/**
 * What was opened must be what lies at the real path: a link that leads elsewhere for the moment of the opening is found
 * out by its inode.
 */
async function liesIn(
  file: string,
  root: string,
  opened: { readonly dev: bigint; readonly ino: bigint },
): Promise<boolean> {
  const real = await realpath(file);
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) return false;
  const there = await stat(real, { bigint: true });
  return there.dev === opened.dev && there.ino === opened.ino;
}

async function readUpTo(handle: FileHandle, most: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(most);
  let length = 0;
  while (length < most) {
    const { bytesRead } = await handle.read(bytes, length, most - length);
    const isEnd = bytesRead < most - length;
    length += bytesRead;
    if (isEnd) break;
  }
  return bytes.subarray(0, length);
}

function faultOf(file: string, error: unknown): ReadText {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return {};
  if (error instanceof TypeError) return { problem: problemOf(file, "is not UTF-8 text") };
  if (code === "ELOOP") return { problem: problemOf(file, "is a link that leads nowhere") };
  return { problem: problemOf(file, code === "EACCES" ? "may not be read by this user" : "can't be read") };
}

export const problemOf = (file: string, message: string): Problem => ({ code: "SOP_INVALID", file, key: "", message });
