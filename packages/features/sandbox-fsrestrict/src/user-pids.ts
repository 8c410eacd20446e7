/** RLIMIT_NPROC for a command whose user also has other processes: the kernel counts those of the user together. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { markOf } from "./marks.ts";
import type { Restriction } from "./request.ts";

/**
 * What the user has beside the commands comes on top, and each command that runs at this time has its share; of those that wait each
 * has a thread. undefined where the child sets the limit itself: without root it is alone in a user namespace of its own.
 */
export function userPidsFor({ user, limits }: Restriction, running: number, waiting: number): number | undefined {
  if (limits.pids === undefined || process.getuid?.() !== 0) return undefined;
  return othersOf(user?.uid ?? 0) + limits.pids * running + waiting;
}

/** Threads of this user that belong to no command. */
function othersOf(uid: number): number {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map((name) => (isOf(uid, name) && Number.isNaN(markOf(Number(name))) ? threadsOf(name) : 0))
    .reduce((sum, threads) => sum + threads, 0);
}

function isOf(uid: number, pid: string): boolean {
  try {
    return statSync(`/proc/${pid}`).uid === uid;
  } catch {
    return false;
  }
}

function threadsOf(pid: string): number {
  try {
    return Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
