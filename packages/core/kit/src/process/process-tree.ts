/** Processes of a command, wherever they went: all of them carry its mark in their environment, which a new session does not remove. */
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
  // Processes that fork while they are looked for are found in the next round.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const marked = (await processScan.next()).filter((found) => found.marks.includes(mark));
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

export interface MarkedProcess {
  readonly pid: number;
  readonly group: number;
  /** More than one where a program added another. */
  readonly marks: readonly string[];
}

/**
 * Looks through all processes of the machine, once for all who ask meanwhile. Each asker gets a look that began after it asked, so that it
 * sees every process that was there then: fifty commands that end at once cost two looks and not fifty.
 */
export class ProcessScan {
  readonly #look: () => Promise<readonly MarkedProcess[]>;
  #running: Promise<unknown> | undefined;
  #waiting: Promise<readonly MarkedProcess[]> | undefined;

  constructor(look: () => Promise<readonly MarkedProcess[]> = markedProcesses) {
    this.#look = look;
  }

  next(): Promise<readonly MarkedProcess[]> {
    return (this.#waiting ??= this.#begin(this.#running));
  }

  async #begin(before: Promise<unknown> | undefined): Promise<readonly MarkedProcess[]> {
    await before;
    // From here on a look has begun: the next asker waits for another one.
    const looking = this.#look();
    this.#running = looking.catch(() => undefined);
    this.#waiting = undefined;
    return await looking;
  }
}

export const processScan = new ProcessScan();

/** Read at a time: all at once would hold up everything else that reads files. */
const AT_A_TIME = 64;

/** Empty but on Linux. */
async function markedProcesses(): Promise<readonly MarkedProcess[]> {
  if (process.platform !== "linux") return [];
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^[0-9]+$/.test(name));
  const found: MarkedProcess[] = [];
  for (let at = 0; at < names.length; at += AT_A_TIME) {
    const some = await Promise.all(names.slice(at, at + AT_A_TIME).map(markedProcess));
    found.push(...some.filter((one) => one !== undefined));
  }
  return found;
}

/** Reading fails for other users' processes and is empty for those that have ended but are not yet collected. */
async function markedProcess(pid: string): Promise<MarkedProcess | undefined> {
  if (Number(pid) === process.pid) return undefined;
  try {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1");
    if (!environment.includes(`${MARK}=`)) return undefined;
    const marks = environment
      .split("\0")
      .flatMap((one) => (one.startsWith(`${MARK}=`) ? [one.slice(MARK.length + 1)] : []));
    // proc(5): "pid (name) state parent group …", and a name may have spaces and brackets in it.
    const [, , group] = (await readFile(`/proc/${pid}/stat`, "latin1")).replace(/^.*\) /s, "").split(" ");
    return { pid: Number(pid), group: Number(group), marks };
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
