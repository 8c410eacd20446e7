/** Temporary folders of processes that were killed: whose a folder is stands in its name, and the next start removes it. */
import { readdir, readFile, readlink, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { child, type Opened, openPath } from "./opened.ts";
import { emptyFolder } from "./remove-tree.ts";

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
