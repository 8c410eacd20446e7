/** Trees of files that another user may be changing: copied, given away, removed, entry by entry of folders that are held open. */
import { type Stats, constants } from "node:fs";
import { chmod, chown, copyFile, lchown, mkdir, open, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Opened, child, openPath } from "./opened.ts";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

export interface CopyTreeOptions {
  /** Whether an entry may be copied, by its name alone. Default: all. */
  readonly takesName?: (name: string) => boolean;
  /** Entries that are passed over without being counted, by their path in the source. */
  readonly skips?: (realPath: string) => boolean;
}

/**
 * Copies the folders and regular files of `from` to `to`, which must not exist and whose parent no other user can change. Links,
 * pipes, sockets and devices are left out, and so are other file systems, and files with several names (hard links) that do not
 * belong to the owner of `from`: one of the names may be elsewhere. So are folders too deep for a path, or a descriptor each. An
 * entry that disappears meanwhile is no error.
 *
 * Resolves with how many entries were left out.
 */
export async function copyTree(from: Opened, to: string, options: CopyTreeOptions = {}): Promise<number> {
  return copyFolder({ ...options, dev: from.stats.dev, uid: from.stats.uid, depth: 0 }, from, to);
}

const DEEPEST_COPY = 256;

interface Copying extends CopyTreeOptions {
  readonly dev: number;
  readonly uid: number;
  readonly depth: number;
}

async function copyFolder(copying: Copying, from: Opened, to: string): Promise<number> {
  const { takesName = () => true, skips = () => false } = copying;
  let left = 0;
  await mkdir(to, { mode: 0o700 });
  for await (const { name } of await opendir(from.via)) {
    if (skips(join(from.realPath, name))) continue;
    if (!takesName(name)) left += 1;
    else left += await copyEntry(copying, from, name, join(to, name));
  }
  return left;
}

async function copyEntry(copying: Copying, folder: Opened, name: string, to: string): Promise<number> {
  try {
    const entry = await folder.enter(name);
    await using found = entry;
    const { stats, via } = found;
    if (stats.dev !== copying.dev) return 1;
    if (stats.isDirectory()) {
      const depth = copying.depth + 1;
      return depth > DEEPEST_COPY ? 1 : await copyFolder({ ...copying, depth }, found, to);
    }
    if (!stats.isFile() || (stats.nlink > 1 && stats.uid !== copying.uid)) return 1;
    await found.verify();
    await copyFile(via, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await found.verify();
    return 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return 0;
    if (code === "ENAMETOOLONG") return 1;
    throw error;
  }
}

/** A user by number, as chown(2) takes it. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Makes a folder in `folder`, which may belong to another user. With `owner`, root makes it in a private place, gives it away by
 * its descriptor and moves it in only then: nothing that another user puts in its place is ever given away. An empty folder of this
 * name that came to be meanwhile is replaced, so that a file made in it at that moment fails with ENOENT: try again.
 *
 * Resolves with false when there is an entry of this name already.
 */
export async function makeFolderIn(folder: Opened, name: string, owner?: Owner): Promise<boolean> {
  try {
    // mkdir follows nothing: at a dangling symlink it fails instead of creating the folder it points to.
    if (!owner) await mkdir(child(folder, name));
    else await makeGiven(folder, name, owner);
    await folder.verify();
    return true;
  } catch (error) {
    if (TAKEN.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

/** What rename(2) says where an entry is in the way; an empty folder it replaces. */
const TAKEN = new Set(["EEXIST", "ENOTEMPTY", "ENOTDIR"]);

async function makeGiven(folder: Opened, name: string, { uid, gid }: Owner): Promise<void> {
  const staging = `.svc-${randomBytes(8).toString("hex")}.tmp`;
  await mkdir(child(folder, staging), { mode: 0o700 });
  try {
    await using own = await folder.enter(staging);
    // It may have been swapped already. Any folder that we own and only we may enter will do.
    const { stats } = own;
    if (!stats.isDirectory() || stats.uid !== process.geteuid?.() || (stats.mode & 0o077) !== 0) throw swapped();
    await mkdir(child(own, name));
    await using handle = await open(
      child(own, name),
      constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
    );
    await handle.chown(uid, gid);
    await rename(child(own, name), child(folder, name)).catch(async (error: unknown) => {
      await rmdir(child(own, name)).catch(() => undefined);
      throw error;
    });
  } finally {
    await rmdir(child(folder, staging)).catch(() => undefined);
  }
}

const swapped = (): Error =>
  Object.assign(new Error("The folder was swapped while it was being made."), { code: "EACCES" });

/**
 * Gives what belongs to root in `folder`, and `folder` itself as the last, to `owner`. Each entry is changed by its descriptor.
 * Links are given, never followed. Left alone: other file systems, files with several names (one may be elsewhere), and all that lies in a folder that
 * others may write, because they may have moved it there.
 */
export async function giveTree(folder: Opened, owner: Owner): Promise<void> {
  if (folder.stats.uid !== 0) return;
  if (!isOpenToOthers(folder.stats)) {
    for await (const { name } of await opendir(folder.via)) await giveEntry(folder, name, owner);
  }
  await folder.verify();
  await chown(folder.via, owner.uid, owner.gid);
}

/** The same for the folder at `path`. Throws what the system says. */
export async function givePath(path: string, owner: Owner): Promise<void> {
  await using folder = await openPath(path);
  await giveTree(folder, owner);
}

const isOpenToOthers = ({ mode, gid }: Stats): boolean => (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== 0);

async function giveEntry(folder: Opened, name: string, owner: Owner): Promise<void> {
  await using entry = await folder.enter(name);
  const { stats } = entry;
  if (stats.dev !== folder.stats.dev || stats.uid !== 0) return;
  if (stats.isDirectory()) return await giveTree(entry, owner);
  // The folder around it still belongs to root and no other user may write it, so its names can't have changed.
  if (stats.isSymbolicLink()) return await lchown(child(folder, name), owner.uid, owner.gid);
  if (stats.nlink > 1) return;
  await entry.verify();
  await chown(entry.via, owner.uid, owner.gid);
}

/**
 * Removes `name` of `folder` with all below it. Every step names one entry of a folder that is held open: a folder that another user
 * swaps for a link while this runs loses the link, never its target. Another file system is not entered.
 *
 * Resolves with whether nothing is left. An entry that can't be removed, or that reappears, is left behind.
 */
export async function removeTree(folder: Opened, name: string): Promise<boolean> {
  return removeEntry(folder, name, 0);
}

/** The same for a path whose parent folder only this user (or root) can change. A missing path counts as removed. */
export async function removePath(path: string): Promise<boolean> {
  let parent: Opened;
  try {
    parent = await openPath(dirname(path));
  } catch (error) {
    return codeOf(error) === "ENOENT";
  }
  await using folder = parent;
  return await removeTree(folder, basename(path));
}

/** How deep a tree is followed in place, which is also how many descriptors are held. */
const DEEPEST_REMOVAL = 64;
/** Passes over a folder to which another process keeps adding, as a browser does that is just being ended. */
const PASSES = 5;
const PAUSE_MS = 20;

/** Deep parts are moved up to `top`, the folder that is removed, and taken apart there: neither descriptors nor stack run out. */
interface Removal {
  readonly top: Opened;
  readonly moved: string[];
}

async function removeEntry(folder: Opened, name: string, depth: number, removal?: Removal): Promise<boolean> {
  for (let pass = 0; pass < PASSES; pass += 1) {
    try {
      const entry = await folder.enter(name);
      await using found = entry;
      if (!found.stats.isDirectory()) {
        await folder.verify();
        await unlink(child(folder, name));
      } else if (found.stats.dev !== folder.stats.dev) return false;
      else if (removal && depth >= DEEPEST_REMOVAL) await moveUp(folder, name, removal);
      else {
        await empty(found, depth + 1, removal);
        await folder.verify();
        await rmdir(child(folder, name));
      }
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return true;
      if (!RETRIED.has(codeOf(error))) return false;
      await pause(PAUSE_MS * pass);
    }
  }
  return false;
}

/** Removes all that is in `folder`, in the same way. */
export const emptyFolder = (folder: Opened): Promise<void> => empty(folder, 1);

export async function isEmpty(folder: Opened): Promise<boolean> {
  for await (const _entry of await opendir(folder.via)) return false;
  return true;
}

async function empty(folder: Opened, depth: number, outer?: Removal): Promise<void> {
  const removal = outer ?? { top: folder, moved: [] };
  await close(folder);
  for await (const { name } of await opendir(folder.via)) await removeEntry(folder, name, depth, removal);
  if (outer) return;
  for (let name = removal.moved.pop(); name !== undefined; name = removal.moved.pop())
    await removeEntry(folder, name, depth, removal);
}

async function moveUp(folder: Opened, name: string, { top, moved }: Removal): Promise<void> {
  const newName = `.svc-removed-${randomBytes(8).toString("hex")}`;
  await folder.verify();
  await rename(child(folder, name), child(top, newName));
  moved.push(newName);
}

/**
 * Closes the folder to everybody else, or its owner could add to it for ever; opens it to us, where a command took its own rights away.
 * By its descriptor: only the folder that is being emptied is changed.
 */
async function close({ stats, via, verify }: Opened): Promise<void> {
  const own = process.geteuid?.();
  if (own === undefined || (stats.uid !== own && own !== 0)) return;
  await verify();
  if (stats.uid !== own) await chown(via, own, process.getegid!());
  if ((stats.mode & 0o777) !== 0o700) await chmod(via, 0o700);
}

/** The entry became something else, or something was added, between two calls. */
const RETRIED = new Set(["ENOTEMPTY", "EEXIST", "EISDIR", "ENOTDIR", "EPERM", "PATH_OUTSIDE_WORKSPACE"]);

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);
