/** A child before it has its request: how it starts, waits in the group that it will need, and ends unneeded. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import type { SessionGroup } from "@svc/kit/process";
import { REQUEST_FD } from "./request.ts";

export interface GroupWish {
  /** The same for the same limits. */
  readonly key: string;
  make(): Promise<SessionGroup>;
}

/** A child in a group that is its session's from now on. */
export interface Ready {
  readonly child: ChildProcess;
  readonly group: SessionGroup;
}

export interface Waiting {
  readonly child: ChildProcess;
  /** Resolves once it is in its group, or stays where it is. */
  moving?: Promise<void>;
  grouped?: { readonly key: string; readonly group: SessionGroup };
}

export async function move(one: Waiting, { key, make }: GroupWish): Promise<void> {
  let group: SessionGroup | undefined;
  try {
    group = await make();
    for (const file of group.joins) await writeFile(file, String(one.child.pid));
    one.grouped = { key, group };
  } catch {
    // It has ended, or no group can be made: it serves as it is.
    await group?.close();
    delete one.moving;
  }
}

export async function endWaiting(one: Waiting): Promise<void> {
  await one.moving;
  await ended(one.child, () => void requestPipe(one.child)?.end());
  await one.grouped?.group.close();
}

/** Of one that was taken and is not needed. It is not let go: it would take that for the end of its daemon, and end all commands. */
export async function endReady({ child, group }: Ready): Promise<void> {
  await ended(child, () => void child.kill("SIGKILL"));
  await group.close();
}

async function ended(child: ChildProcess, end: () => void): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  setReferenced(child, true);
  end();
  await exited;
}

export function launch([file, ...args]: readonly [file: string, ...args: string[]], firstMark: number): ChildProcess {
  const child = spawn(file, [...args, String(firstMark)], {
    cwd: "/",
    // It is seen in /proc until the command's own program begins: nothing of the daemon's is in it.
    env: {},
    stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"],
    detached: true, // a process group of its own, so that one signal reaches all of the command
  });
  // A child that is gone already reads no request; that it did not begin is seen by its report.
  requestPipe(child)?.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  return child;
}

export const requestPipe = (child: ChildProcess | undefined): Socket | undefined =>
  child?.stdio[REQUEST_FD] as Socket | undefined;

/** One that waits does not keep the daemon from ending. */
export function setReferenced(child: ChildProcess, on: boolean): void {
  const sockets = child.stdio as unknown as readonly (Socket | null | undefined)[];
  for (const each of [child, ...sockets])
    if (on) each?.ref();
    else each?.unref();
}
