import { readdir, readFile } from "node:fs/promises";

/** Environment variable that every process of one command inherits. */
export const MARK = "SVC_EXEC_ID";

/**
 * Signals a command's process group and, on Linux, whoever left the group (`setsid`) but still carries its mark. Only a
 * process that did both, a new session and a cleared environment, gets away; a sandbox with its own pid namespace holds
 * that one too.
 */
export async function killTree(leader: number | undefined, mark: string, signal: NodeJS.Signals): Promise<void> {
  if (leader === undefined) return;
  send(-leader, signal);
  if (process.platform !== "linux") return;
  // Processes that fork while they are looked for are found in the next round.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const marked = await markedProcesses(mark);
    for (const pid of marked) send(pid, signal);
    if (marked.length === 0 || signal !== "SIGKILL") return;
  }
}

const MAX_ROUNDS = 50;

async function markedProcesses(mark: string): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^[0-9]+$/.test(name));
  const found = await Promise.all(pids.map(async (pid) => ((await carries(pid, mark)) ? Number(pid) : 0)));
  return found.filter((pid) => pid > 0);
}

/** Reading fails for other users' processes and is empty for those that have ended but are not yet collected. */
async function carries(pid: string, mark: string): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/environ`, "latin1")).includes(`${MARK}=${mark}`);
  } catch {
    return false;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}
