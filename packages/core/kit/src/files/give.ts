import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { chown, lchown, mkdir, open, opendir, rename, rmdir } from "node:fs/promises";
import { child, type Opened, openPath } from "./opened.ts";

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
