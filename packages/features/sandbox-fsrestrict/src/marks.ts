/**
 * How the processes of a command are found again, whatever they do: each has the command's number as its limit of file locks
 * (RLIMIT_LOCKS, which no kernel since 2.4.25 looks at). Children inherit it, nobody may raise it, the filter refuses to lower
 * it, and everybody may read it in /proc. A process group is left with `setsid`, an environment is cleared; this stays.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Commands of one daemon: marks from `base` on, `MARKS` of them, used again after the last. */
export const MARKS = 1_048_576;

export interface MarkRange {
  readonly from: number;
  /** Not one of them any more. */
  readonly to: number;
}

export const onlyMark = (mark: number): MarkRange => ({ from: mark, to: mark + 1 });

/** Ids of processes with a mark of the range. */
function marked({ from, to }: MarkRange): number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const mark = markOf(pid);
      return mark >= from && mark < to;
    });
}

/** Kills them all, those that they start meanwhile included. False: there were none, and there can be none any more. */
export function killMarked(range: MarkRange, spare: (pid: number) => boolean = () => false): boolean {
  const present = marked(range);
  if (present.every(spare)) return present.length > 0;
  // Stopped first: a process that is stopped starts no other while the rest are looked for.
  for (const signal of ["SIGSTOP", "SIGKILL"] as const) {
    const seen = new Set<number>();
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const fresh = marked(range).filter((pid) => !seen.has(pid) && !spare(pid));
      if (fresh.length === 0) break;
      for (const pid of fresh) {
        seen.add(pid);
        send(pid, signal);
      }
    }
  }
  return true;
}

const MAX_ROUNDS = 100;

/** As `killMarked`, and resolves when none runs any more: one that was killed ends when it comes to a processor. */
export async function endMarked(range: MarkRange): Promise<void> {
  killMarked(range);
  for (let tries = 0; tries < MAX_TRIES && marked(range).some(isRunning); tries += 1) await pause(2);
}

/** Longer waits only one that the kernel can't end, as on a file system that does not answer. */
const MAX_TRIES = 1000;

/** `<pid> (<name>) <state> …`, proc_pid_stat(5): one that has ended stays until its parent has asked how. */
function isRunning(pid: number): boolean {
  try {
    return !/^[ZX]/.test(readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, ""));
  } catch {
    return false;
  }
}

/** `Max file locks  <soft>  <hard>  locks`, as proc_pid_limits(5) has it; NaN for `unlimited` and for a process that is gone. */
export function markOf(pid: number): number {
  try {
    return Number(/^Max file locks\s+\S+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "latin1"))?.[1]);
  } catch {
    return NaN;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}
