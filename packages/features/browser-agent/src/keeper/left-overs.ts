/** What is left of browsers whose svc is gone: processes, and folders with cookies. */
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, join } from "node:path";
import { removePath } from "@svc/kit/files";
import { kill, killMarked } from "./marked-processes.ts";

/** Names of this process's folders begin so. A process number alone comes back; in a container it is always the same. */
export const ownPrefix = (): string => `${process.pid}-${Math.round(performance.timeOrigin)}-`;

/** Ends what another process has left. There is one daemon on a home: whatever is not this process's belongs to none. */
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

/** Ends a session's processes. Where marks can't be read, the program is told to end, and ends its Chromium with it. */
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
