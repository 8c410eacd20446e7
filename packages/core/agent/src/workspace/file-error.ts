import type { Stats } from "node:fs";
import { SvcError } from "@svc/contract";

/** Rethrows any error as an `SvcError`. The system's own messages quote the path and are left out. */
export function asFileError(error: unknown): never {
  if (error instanceof SvcError) throw error;
  const code = errnoOf(error) ?? "an unknown error";
  const known = MEANINGS[code];
  if (known) throw new SvcError(known[0], known[1], { cause: code });
  throw new SvcError("TOOL_FAILED", `The file system reported ${code}.`);
}

export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^E[A-Z0-9_]+$/.test(code) ? code : undefined;
}

/** FIFOs, devices and sockets block, act or answer when they are read: only regular files are files here. */
export function needFile(stats: Stats): void {
  if (!stats.isFile()) throw notAFile(stats);
}

export function needFolder(stats: Stats): void {
  if (!stats.isDirectory()) throw new SvcError("TOOL_BAD_INPUT", "This is not a folder.");
}

export function notAFile(stats?: Stats): SvcError {
  const folder = stats === undefined || stats.isDirectory();
  return new SvcError(
    "TOOL_BAD_INPUT",
    folder ? "This is a folder, not a file." : "Only regular files can be used, not pipes, sockets or devices.",
  );
}

const MEANINGS: Readonly<Record<string, readonly ["TOOL_BAD_INPUT" | "TOOL_FAILED", string]>> = {
  ENOENT: ["TOOL_BAD_INPUT", "There is no file or folder at this path."],
  ENOTDIR: ["TOOL_BAD_INPUT", "A part of this path is a file, not a folder."],
  EISDIR: ["TOOL_BAD_INPUT", "This is a folder, not a file."],
  EEXIST: ["TOOL_BAD_INPUT", "Something else appeared at this path, or it is a link that leads nowhere."],
  ENOTEMPTY: ["TOOL_BAD_INPUT", "The folder is not empty."],
  ENXIO: ["TOOL_BAD_INPUT", "Only regular files can be used, not pipes, sockets or devices."],
  ELOOP: ["TOOL_BAD_INPUT", "The path leads through too many symbolic links."],
  ENAMETOOLONG: ["TOOL_BAD_INPUT", "The path is too long."],
  EINVAL: ["TOOL_BAD_INPUT", "The system can't use this path."],
  EACCES: ["TOOL_FAILED", "The operating system denies access to this path."],
  EPERM: ["TOOL_FAILED", "The operating system denies access to this path."],
  EROFS: ["TOOL_FAILED", "The file system is read-only."],
  ENOSPC: ["TOOL_FAILED", "The disk is full; nothing was written."],
  EDQUOT: ["TOOL_FAILED", "The disk quota is used up; nothing was written."],
};
