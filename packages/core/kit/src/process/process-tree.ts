import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { windowsFolder } from "./command-environment.ts";

/** Environment variable that every process of one command inherits. */
export const MARK = "SVC_EXEC_ID";

/**
 * Signals a command's process group and, on Linux, processes that left the group (`setsid`) but still carry its mark. Only a
 * process with both a new session and a cleared environment escapes; a sandbox with its own pid namespace holds that one too.
 */
export async function killTree(leader: number | undefined, mark: string, signal: NodeJS.Signals): Promise<void> {
  if (leader === undefined) return;
  if (process.platform === "win32") return endWindowsTree(leader);
  send(-leader, signal);
  if (process.platform !== "linux") return;
  // Processes that fork while they are looked for are found in the next round.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const marked = await markedProcesses(mark);
    // The group has its signal: a program told twice to stop would clean up twice.
    for (const { pid, group } of marked) if (signal === "SIGKILL" || group !== leader) send(pid, signal);
    if (marked.length === 0 || signal !== "SIGKILL") return;
  }
}

/**
 * Windows has no process groups. The tree is what the leader's children, and theirs, say of their parents: a process whose parent
 * has ended is not found. Never call it for a leader that has ended: its number may be another program's by now.
 */
function endWindowsTree(leader: number): Promise<void> {
  const program = join(windowsFolder(), "System32", "taskkill.exe");
  return new Promise((resolve) => {
    const ending = spawn(program, ["/pid", String(leader), "/t", "/f"], { stdio: "ignore", windowsHide: true });
    ending.once("error", () => resolve());
    ending.once("exit", () => resolve());
  });
}

const MAX_ROUNDS = 50;

interface Marked {
  readonly pid: number;
  readonly group: number;
}

async function markedProcesses(mark: string): Promise<Marked[]> {
  const names = await readdir("/proc").catch(() => []);
  const found = await Promise.all(names.filter((name) => /^[0-9]+$/.test(name)).map((pid) => marked(pid, mark)));
  return found.filter((process) => process !== undefined);
}

/** Reading fails for other users' processes and is empty for those that have ended but are not yet collected. */
async function marked(pid: string, mark: string): Promise<Marked | undefined> {
  try {
    if (!(await readFile(`/proc/${pid}/environ`, "latin1")).includes(`${MARK}=${mark}`)) return undefined;
    // proc(5): "pid (name) state parent group …", and a name may have spaces and brackets in it.
    const [, , group] = (await readFile(`/proc/${pid}/stat`, "latin1")).replace(/^.*\) /s, "").split(" ");
    return { pid: Number(pid), group: Number(group) };
  } catch {
    return undefined;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}
