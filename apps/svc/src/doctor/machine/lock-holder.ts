/**
 * Who has a home. Read from the kernel's list and never by trying the lock: a daemon that starts in that moment would find
 * it taken.
 */
import { readdir, readFile, readlink, realpath, stat } from "node:fs/promises";

/** Process id; undefined when nobody has it, or where it can't be told (other systems, other users' processes). */
export async function lockHolder(lockFile: string): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  try {
    const { ino } = await stat(lockFile);
    const file = await realpath(lockFile);
    const locks = await readFile("/proc/locks", "utf8");
    for (const pid of holdersOf(locks, ino)) if (await hasOpen(pid, file)) return pid;
  } catch {
    // No lock file, or no /proc.
  }
  return undefined;
}

/** `1: POSIX  ADVISORY  WRITE 4242 08:01:131 0 EOF`: only the inode tells, as overlays show another device there. */
export function holdersOf(locks: string, inode: number): number[] {
  const pids = locks
    .split("\n")
    .map((line) => /^\d+: (?:POSIX|OFDLCK)\s+\S+\s+WRITE\s+(\d+)\s+\S+:(\d+)\s/.exec(line))
    .filter((match) => match !== null && Number(match[2]) === inode)
    .map((match) => Number(match?.[1]));
  return [...new Set(pids)];
}

async function hasOpen(pid: number, file: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  for (const name of await readdir(folder).catch(() => [])) {
    if ((await readlink(`${folder}/${name}`).catch(() => "")) === file) return true;
  }
  return false;
}
