/**
 * The workspace: the only way tools reach files. A path is judged twice, as it was written and, once the thing is open,
 * by where that very thing really is; no byte is read or written before the second answer.
 */
import { lstat, opendir, realpath, rmdir, stat, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { SvcError, type Workspace, type WorkspaceEntry } from "@svc/contract";
import { makeFolder } from "@svc/config";
import { type Opened, type Opener, type Owner, child, openerFor } from "@svc/kit/files";
import { type PathRuleOptions, type PathRules, createPathRules } from "./path-rules.ts";
import { writeBytes } from "./write-bytes.ts";
import { asFileError, errnoOf, needFile, needFolder, notAFile } from "./file-error.ts";
import { type Stats, constants } from "node:fs";

export interface WorkspaceOptions extends PathRuleOptions {
  /** How things are opened; default: the safest this system has. */
  readonly opener?: Opener;
}

/**
 * Creates the root (0700) when it is missing; throws CONFIG_INVALID when it can't be had. Every method throws `SvcError`: PATH_OUTSIDE_WORKSPACE, PATH_FORBIDDEN,
 * TOOL_BAD_INPUT (no such file, a folder where a file is needed …) or TOOL_FAILED (the system refuses, the disk is full).
 *
 * What no path check can see: a hard link inside the workspace to a file outside it. Tools can't make one; a replaced
 * file gets a new inode, and appending to a file with several names is refused, so nothing outside is ever changed.
 */
export async function openWorkspace(root: string, options: WorkspaceOptions): Promise<Workspace> {
  const given = resolve(root);
  const real = await workspaceRoot(given);
  const opener = options.opener ?? (await openerFor(real));
  const rules = createPathRules({ given, real }, options);
  const owner = await ownerOf(real);
  return {
    root: real,
    read: (path, maxBytes, offset = 0) => readBytes(opener, rules, path, maxBytes, offset).catch(asFileError),
    write: (path, content, mode) => writeBytes({ opener, rules, owner }, path, content, mode).catch(asFileError),
    remove: (path) => removeEntry(opener, rules, path).catch(asFileError),
    list: (path, limit) => listFolder(opener, rules, path, limit).catch(asFileError),
  };
}

/** Its root alone, made when it is missing: absolute, without links. Throws CONFIG_INVALID. */
export async function workspaceRoot(root: string): Promise<string> {
  await makeFolder(root).catch(noRoot);
  return realpath(root).catch(noRoot);
}

/** What root writes into somebody else's workspace is theirs: the commands that run there are, too. */
async function ownerOf(root: string): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(root).catch(noRoot);
  return uid === 0 ? undefined : { uid, gid };
}

function noRoot(cause: unknown): never {
  throw new SvcError("CONFIG_INVALID", "The workspace can't be used: there is no such folder, and none can be made.", {
    cause,
    hint: "Set workspace.path to a folder that this user may write to, or to a new one in such a folder.",
  });
}

async function listFolder(
  opener: Opener,
  rules: PathRules,
  path: string,
  limit: number,
): Promise<{ entries: WorkspaceEntry[]; truncated: boolean }> {
  await using folder = await opener(rules.locate(path));
  await rules.admit(folder.realPath);
  needFolder(folder.stats);
  const { names, complete } = await namesIn(folder);
  await folder.verify();
  names.sort();
  const entries: WorkspaceEntry[] = [];
  for (const name of names) {
    if (await rules.isHidden(join(folder.realPath, name))) continue;
    if (entries.length === limit) return { entries, truncated: true };
    entries.push(await entryOf(folder, name));
  }
  return { entries, truncated: !complete };
}

/** A folder of millions must not fill the memory. */
const MAX_NAMES = 100_000;

async function namesIn(folder: Opened): Promise<{ names: string[]; complete: boolean }> {
  const names: string[] = [];
  for await (const entry of await opendir(folder.via)) {
    if (names.length === MAX_NAMES) return { names, complete: false };
    names.push(entry.name);
  }
  return { names, complete: true };
}

async function entryOf(folder: Opened, name: string): Promise<WorkspaceEntry> {
  // Gone since the folder was read, or a name that is not UTF-8: listed, but nothing is known of it.
  const stats = await lstat(child(folder, name)).catch(() => undefined);
  const kind = stats ? kindOf(stats) : "other";
  return { name, kind, size: kind === "file" ? (stats?.size ?? 0) : 0 };
}

function kindOf(stats: Stats): WorkspaceEntry["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "symlink" : "other";
}

/** At most `maxBytes` from `offset` on; one byte more is asked for, to know whether there is more. */
async function readBytes(
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
  const length = Math.min(filled, maxBytes, wanted - 1);
  return { bytes: buffer.subarray(0, length), truncated: filled > length };
}

/** A file that grows while it is read, or whose size says 0, still gets this much. */
const UNSIZED_BYTES = 65_536;

/**
 * What is removed is below the very folder that was looked at: `unlink` and `rmdir` follow nothing. A folder on the way that
 * was replaced by a symlink would have somebody else's file removed, so then nothing is.
 */
async function removeEntry(opener: Opener, rules: PathRules, path: string): Promise<boolean> {
  const target = rules.locate(path);
  if (target === rules.root || basename(target) === "") throw notAFile();
  try {
    await using folder = await opener(dirname(target));
    if (folder.realPath !== dirname(target)) throw throughLink();
    await rules.admit(join(folder.realPath, basename(target)));
    await removeFrom(folder, basename(target));
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function removeFrom(folder: Opened, name: string): Promise<void> {
  const entry = child(folder, name);
  const stats: Stats = await lstat(entry);
  if (!stats.isDirectory()) needFile(stats);
  await folder.verify();
  await (stats.isDirectory() ? rmdir(entry) : unlink(entry));
}

const throughLink = (): SvcError =>
  new SvcError("PATH_FORBIDDEN", "The path leads through a symbolic link, and nothing is removed through one.");
