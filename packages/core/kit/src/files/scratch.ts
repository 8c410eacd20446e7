import { chmod, chown, mkdir, mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { SvcError } from "@svc/contract";
import { processMark } from "./abandoned-scratch.ts";
import type { Owner } from "./give.ts";
import { child, type Opened, openPath } from "./opened.ts";
import { emptyFolder } from "./remove-tree.ts";

export interface Scratch extends AsyncDisposable {
  /** Absolute real path. Empty at first. */
  readonly path: string;
  /** Removes it with all in it; never throws. An entry that can't be removed stays, where only this user can reach it. */
  dispose(): Promise<void>;
}

export interface ScratchOptions {
  /** What the folder's name begins with: `svc-<word>-`. Whose it is follows (`removeAbandonedScratch`). */
  readonly prefix: string;
  /** Where it is made; default: the system's folder for temporary files. */
  readonly parent?: string;
  /** Who is to own and write `path`, where the daemon is root. Default: the daemon's own user. */
  readonly owner?: Owner | undefined;
}

/**
 * A folder for the time of some work. No other user can enter it. With `owner`, `path` belongs to that user and lies in a folder of
 * ours, which that user's group may pass through and no other user may write: only the contents of `path` can ever be swapped, and they
 * are removed by descriptor.
 */
export async function makeScratch({ prefix, parent = tmpdir(), owner }: ScratchOptions): Promise<Scratch> {
  const outer = await openPath(await mkdtemp(join(parent, `${prefix}${await processMark()}`)));
  demandOurs(outer);
  let removed: Promise<void> | undefined;
  const dispose = (): Promise<void> => (removed ??= remove(outer));
  try {
    const path = owner ? await givenFolder(outer.realPath, owner) : outer.realPath;
    return { path, dispose, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** In a folder for temporary files that is not sticky, another user could have put one of their own in its place. */
function demandOurs({ stats }: Opened): void {
  const isOurs = process.geteuid === undefined || (stats.uid === process.geteuid() && (stats.mode & 0o077) === 0);
  if (isOurs && stats.isDirectory()) return;
  throw new SvcError("HOME_UNWRITABLE", "A temporary folder was replaced by another user while it was being made.", {
    hint: "Set TMPDIR to a folder that other users can't write, or make it sticky: chmod +t",
  });
}

async function remove(outer: Opened): Promise<void> {
  try {
    await emptyFolder(outer);
    await using parent = await openPath(dirname(outer.realPath));
    await rmdir(child(parent, basename(outer.realPath)));
  } catch {
    // The rest stays; the folder is closed to everybody else.
  } finally {
    await outer[Symbol.asyncDispose]();
  }
}

/** `outer` is closed to all other users until its group is let in. */
async function givenFolder(outer: string, { uid, gid }: Owner): Promise<string> {
  const path = join(outer, "t");
  await mkdir(path, { mode: 0o700 });
  await chown(path, uid, gid);
  await chown(outer, process.geteuid!(), gid);
  await chmod(outer, 0o710);
  return path;
}
