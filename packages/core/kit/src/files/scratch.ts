/** Temporary folders: made, removed, and those of killed processes found again. */
import { chmod, chown, mkdir, mkdtemp, readFile, readdir, readlink, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { SvcError } from "@svc/contract";
import { type Owner, emptyFolder } from "./trees.ts";
import { type Opened, child, openPath } from "./opened.ts";

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

// Temporary folders of processes that were killed: whose a folder is stands in its name, and the next start removes it.

/**
 * `<PID namespace>-<process id>-<start>-`, for a folder's name. The namespace, because containers that share a temporary folder
 * have processes of the same numbers. Blank where the system does not tell: such a folder is never taken for abandoned.
 */
export async function processMark(pid = process.pid): Promise<string> {
  const [namespace, start] = await Promise.all([namespaceOf(), startOf(pid)]);
  return namespace === undefined || start === undefined ? "" : `${namespace}-${pid}-${start}-`;
}

const MARKED = /^svc-[a-z]+-(\d+)-(\d+)-(\d+)-[A-Za-z0-9]{6}$/;

/**
 * Removes the marked folders in `parent` whose process has ended. Any local user may make a folder or a link of such a name: only
 * a folder of this user that no other user may write is emptied, by its descriptor, and no link is followed. Resolves with how
 * many were removed; one that can't be stays.
 */
export async function removeAbandonedScratch(parent = tmpdir()): Promise<number> {
  const namespace = await namespaceOf();
  if (namespace === undefined) return 0;
  await using folder = await openPath(parent);
  let removed = 0;
  for (const name of await readdir(folder.via)) {
    const [, where, pid, start] = MARKED.exec(name) ?? [];
    if (where !== namespace || (await isRunning(Number(pid), start!))) continue;
    if (await removeOurs(folder, name)) removed += 1;
  }
  return removed;
}

async function removeOurs(parent: Opened, name: string): Promise<boolean> {
  try {
    await using folder = await parent.enter(name);
    const { stats } = folder;
    const isOurs = stats.isDirectory() && stats.uid === process.geteuid?.() && (stats.mode & 0o027) === 0;
    if (!isOurs || stats.dev !== parent.stats.dev) return false;
    await emptyFolder(folder);
    // rmdir removes only an empty folder: if the name was swapped meanwhile, nothing is lost.
    await rmdir(child(parent, name));
    return true;
  } catch {
    return false;
  }
}

/** Where it can't be told, it runs. */
async function isRunning(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ESRCH") return false; // EPERM: another user's has the number now
  }
  const now = await startOf(pid);
  return now === undefined || now === start;
}

/** Ticks since the machine started, proc_pid_stat(5). */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return /^\d+$/.exec(stat.replace(/^.*\) /s, "").split(" ")[19] ?? "")?.[0];
}

/** `pid:[4026531836]` */
async function namespaceOf(): Promise<string | undefined> {
  const link = await readlink("/proc/self/ns/pid").catch(() => "");
  return /^pid:\[(\d+)\]$/.exec(link)?.[1];
}
