/** Reads a procedure's files: bounded, as UTF-8, and only what really lies in the workspace. */
import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Problem } from "@svc/kernel";
import type { SopFiles } from "./definition.ts";
import { SOP_MD, SOP_TOML } from "./file-names.ts";

/** Of each file. */
export const MOST_BYTES = 256 * 1024;

export interface ReadFiles {
  /** Undefined where there are problems, and where there is no SOP.toml. */
  readonly files: SopFiles | undefined;
  readonly problems: readonly Problem[];
  readonly isMissing?: true;
}

/** `root`: real path of the workspace. Never throws. */
export async function readFiles(folder: string, root: string): Promise<ReadFiles> {
  const [toml, markdown] = await Promise.all([SOP_TOML, SOP_MD].map((name) => readText(join(folder, name), root)));
  const problems = [toml, markdown].flatMap((read) => (read?.problem ? [read.problem] : []));
  if (problems.length > 0) return { files: undefined, problems };
  if (toml?.text !== undefined) return { files: { folder, toml: toml.text, markdown: markdown?.text }, problems };
  // A folder with neither is no procedure yet, or none any more.
  if (markdown?.text === undefined) return { files: undefined, problems: [] };
  return { files: undefined, problems: [problemOf(join(folder, SOP_TOML), "does not exist")], isMissing: true };
}

interface ReadText {
  readonly text?: string;
  readonly problem?: Problem;
}

async function readText(file: string, root: string): Promise<ReadText> {
  let handle: FileHandle | undefined;
  try {
    // To wait for the writer of a FIFO would be for ever.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return { problem: problemOf(file, "is no file") };
    if (!(await liesIn(file, root, stats)))
      return { problem: problemOf(file, "is a link that leads out of the workspace") };
    // One byte more than it has: what is written to it meanwhile is read the next time.
    const bytes = await readUpTo(handle, Math.min(Number(stats.size), MOST_BYTES) + 1);
    if (bytes.length > MOST_BYTES) return { problem: problemOf(file, "is larger than 256 kB") };
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
