/** Processes of child agents, wherever they went: all of them carry a mark in their environment, which a new session does not remove. */
import { processScan } from "@svc/kit/process-tree";

/** Kills the processes whose mark begins with `prefix`, but for those of which `isSpared` says so. Only on Linux. */
export async function killMarked(prefix: string, isSpared: (mark: string) => boolean = () => false): Promise<number> {
  let killed = 0;
  // Processes that fork while they are looked for are found in the next round.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = (await markedProcesses(prefix)).filter(({ mark }) => !isSpared(mark));
    if (found.length === 0) break;
    killed += found.length;
    for (const { pid } of found) kill(pid);
  }
  return killed;
}

const MAX_ROUNDS = 50;

export interface MarkedProcess {
  readonly pid: number;
  readonly mark: string;
}

export async function markedProcesses(prefix: string): Promise<MarkedProcess[]> {
  return (await processScan.next()).flatMap(({ pid, marks }) => {
    const mark = marks.find((one) => one.startsWith(prefix));
    return mark === undefined ? [] : [{ pid, mark }];
  });
}

export function killGroup(pid: number): void {
  kill(-pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}
