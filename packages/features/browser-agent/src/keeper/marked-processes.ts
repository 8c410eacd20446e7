/** The processes of a browser, wherever they went: the program and Chromium leave the group that they were started in. */
import { readFileSync, readdirSync } from "node:fs";

/** Environment variable with the name of the session's folder, which every process of a session inherits. */
export const MARK = "SVC_EXEC_ID";

/**
 * Kills all whose mark begins with `prefix`, and tells whether there was any. Only on Linux; synchronous, since a process that is
 * ending has no time to wait.
 */
export function killMarked(prefix: string): boolean {
  if (process.platform !== "linux") return false;
  let found = false;
  // Processes that fork while they are looked for are found in the next round.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const pids = markedPids(prefix);
    if (pids.length === 0) return found;
    found = true;
    for (const pid of pids) kill(pid, "SIGKILL");
  }
  return found;
}

const MAX_ROUNDS = 50;

/** Reading fails for other users' processes and is empty for those that have ended but are not yet collected. */
export function markedPids(prefix: string): number[] {
  const numbers = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return numbers.filter((pid) => isMarked(pid, prefix)).map(Number);
}

function isMarked(pid: string, prefix: string): boolean {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    return Number(pid) !== process.pid && variables.some((variable) => variable.startsWith(`${MARK}=${prefix}`));
  } catch {
    return false;
  }
}

/** Whether there was such a process. */
export function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
