/** Processes of child agents, wherever they went: all of them carry a mark in their environment, which a new session does not remove. */
import { readdir, readFile } from "node:fs/promises";

/** Environment variable that the processes of one command inherit. */
export const MARK = "SVC_EXEC_ID";

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

/** Reading fails for other users' processes, and is empty for those that have ended. */
export async function markedProcesses(prefix: string): Promise<MarkedProcess[]> {
  if (process.platform !== "linux") return [];
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^[0-9]+$/.test(name));
  const found = await Promise.all(names.map((pid) => markOf(pid, prefix)));
  return found.filter((one) => one !== undefined);
}

async function markOf(pid: string, prefix: string): Promise<MarkedProcess | undefined> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  const start = `${MARK}=${prefix}`;
  const variable = environment.split("\0").find((one) => one.startsWith(start));
  if (variable === undefined || Number(pid) === process.pid) return undefined;
  return { pid: Number(pid), mark: variable.slice(MARK.length + 1) };
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
