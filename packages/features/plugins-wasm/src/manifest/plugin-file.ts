/** Files of a plugin, which others wrote: regular ones only, never by way of a symbolic link, never more than was asked for. */
import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { type ErrorCode, SvcError } from "@svc/contract";
import { MAX_MODULE_BYTES } from "../host/module/abi.ts";

/** Bytes. */
export const LIMITS = {
  manifest: 16 * 1024,
  wasm: MAX_MODULE_BYTES,
  approval: 64 * 1024,
} as const;

// Windows has neither; nothing waits there for the other end of a pipe when it is opened.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Throws `code` for what is no file, too large, or can't be read. `what`: how a person knows it. */
export async function readPluginFile(path: string, maxBytes: number, what: string, code: ErrorCode): Promise<Buffer> {
  const refused = (problem: string, cause?: unknown): SvcError =>
    new SvcError(code, `${what} ${problem}.`, cause === undefined ? {} : { cause });
  let handle;
  try {
    // Without O_NONBLOCK a FIFO in its place would be waited for.
    handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (cause) {
    throw refused(OPEN_PROBLEMS[(cause as NodeJS.ErrnoException).code ?? ""] ?? "can't be read", cause);
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw refused("is not a regular file");
    if (stats.size > maxBytes) throw refused(`is larger than ${maxBytes / 1024} KiB`);
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length === bytes.length) break;
    }
    if (length > maxBytes) throw refused(`is larger than ${maxBytes / 1024} KiB`);
    return Buffer.from(bytes.subarray(0, length));
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    throw refused("can't be read", cause);
  } finally {
    await handle.close();
  }
}

const OPEN_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "is missing",
  ENOTDIR: "is missing",
  ELOOP: "is a symbolic link",
  EMLINK: "is a symbolic link",
  EISDIR: "is not a regular file",
  ENXIO: "is not a regular file",
  EACCES: "may not be read by this user",
  EPERM: "may not be read by this user",
};

/** What is wrong with a folder that holds what was approved; undefined: nothing. */
export async function folderProblem(path: string): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats) return "can't be read";
  if (stats.isSymbolicLink()) return "is a symbolic link";
  if (!stats.isDirectory()) return "is not a folder";
  if (process.platform === "win32") return undefined;
  // Whoever may write there could approve what they like.
  if ((stats.mode & 0o022) !== 0) return "can be written by others";
  const isOurs = stats.uid === process.geteuid?.() || stats.uid === 0;
  return isOurs ? undefined : "belongs to another user";
}
