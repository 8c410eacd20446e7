/**
 * A process of ours beside the browsers, which ends them when svc is killed: the program's own process belongs to no one and
 * would go on for minutes, with a browser that is signed in somewhere. It holds the other end of a pipe, which the system closes
 * however svc ends.
 */
import type { Logger } from "@svc/contract";
import { removePath } from "@svc/kit/files";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, join } from "node:path";

export interface BrowserKeeper {
  /** What names of the folders begin with that it looks after. Of a feature that was made anew they are others. */
  readonly prefix: string;
  /** From now on. Idempotent. */
  watch(): void;
  /** Not any more. */
  end(): void;
}

export function browserKeeper(
  folders: string,
  child: (name: string) => readonly [string, ...string[]],
  log: Logger,
): BrowserKeeper {
  let keeper: ChildProcess | undefined;
  // A keeper ends after its feature: what the next one has started by then is not its to end.
  const prefix = `${ownPrefix()}${randomBytes(3).toString("hex")}-`;
  return {
    prefix,
    watch() {
      if (keeper !== undefined && keeper.exitCode === null && keeper.signalCode === null) return;
      const [file, ...args] = child("browser-keeper");
      const started = spawn(file, [...args, folders, prefix], {
        env: {},
        stdio: ["pipe", "ignore", "ignore"],
        // A signal to svc's group is not for it: it has to be there afterwards.
        detached: true,
        windowsHide: true,
      });
      started.on("error", () => log.warn("could not start the process that watches over the browsers"));
      started.stdin?.on("error", () => undefined);
      // It is no reason for svc to stay.
      started.unref();
      (started.stdin as unknown as { unref?(): void } | null)?.unref?.();
      keeper = started;
    },
    end() {
      keeper?.stdin?.end();
      keeper = undefined;
    },
  };
}

// Left-overs of browsers whose svc is gone: processes, and folders with cookies.

/** Names of this process's folders begin so. A process number alone comes back; in a container it is always the same. */
export const ownPrefix = (): string => `${process.pid}-${Math.round(performance.timeOrigin)}-`;

/** Removes left-overs of other processes. A home has one daemon, so anything that is not this process's is abandoned. */
export async function removeLeftOvers(folders: string): Promise<void> {
  for (const name of namesIn(folders)) if (!name.startsWith(ownPrefix())) await endFolder(folders, name);
}

/** Ends all whose folder's name begins so. */
export async function endAll(folders: string, prefix: string): Promise<void> {
  killMarked(prefix);
  for (const name of namesIn(folders)) if (name.startsWith(prefix)) await endFolder(folders, name);
}

async function endFolder(folders: string, name: string): Promise<void> {
  const root = join(folders, name);
  const temporary = temporaryOf(root);
  endSession(name, temporary ?? root);
  if (temporary !== undefined) await removeOwn(temporary);
  await removePath(root);
}

/** The path was read from a link that a browser could have written: a folder of another user is left alone. */
async function removeOwn(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isDirectory() && found.uid === (process.geteuid?.() ?? found.uid)) await removePath(path);
}

/** Name of the link to a session's other folder. */
export const TEMPORARY = "temporary";

/** Only what can be one of ours: the link is in a folder that a browser could write to. */
function temporaryOf(root: string): string | undefined {
  try {
    const path = readlinkSync(join(root, TEMPORARY));
    return /^svc-[A-Za-z0-9]{6}$/.test(basename(path)) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Ends a session's processes. Without readable marks it signals the program, which ends its Chromium. */
export function endSession(name: string, temporary: string): void {
  if (process.platform === "linux") {
    killMarked(name);
    return;
  }
  const pid = pidIn(join(temporary, "svc.pid"));
  if (pid !== undefined) kill(pid, "SIGTERM");
}

/** The program writes the number of its own process beside its socket. */
function pidIn(file: string): number | undefined {
  try {
    const [digits] = /^[0-9]{1,10}(?=\s*$)/.exec(readFileSync(file, "latin1")) ?? [];
    return digits === undefined || Number(digits) <= 1 ? undefined : Number(digits);
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

// The processes of a browser, wherever they went: the program and Chromium leave the group that they were started in.

/** Environment variable with the name of the session's folder, which every process of a session inherits. */
export const MARK = "SVC_EXEC_ID";

/**
 * Kills all whose mark begins with `prefix`, and tells whether there was any. Only on Linux; synchronous, since a process that is
 * ending has no time to wait.
 */
function killMarked(prefix: string): boolean {
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
function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
