/**
 * Starts the children that become commands. From the first command on, one is kept waiting: it has started already when the
 * next command comes. It ends when nothing came for a while, with the feature, and by itself when the daemon is gone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { Clock } from "@svc/contract";
import { MARKS } from "./marks.ts";
import { REPORT_FD, REQUEST_FD, type SandboxRequest } from "./request.ts";

export interface Starter {
  /** A child that has its request. Throws what spawning throws. */
  start(what: Pick<SandboxRequest, "restriction" | "run">): Started;
  /** Ends the one that waits; what runs goes on. Idempotent. */
  shutdown(): void;
}

export interface Started {
  readonly child: ChildProcess;
  /** What its processes are known by. */
  readonly mark: number;
  /** The lines of its report, when its own program has begun or it has ended. */
  readonly reported: Promise<string>;
}

export interface StarterOptions {
  /** The program and its first arguments. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly clock: Pick<Clock, "after">;
}

/** Then the one that waits is let go: it holds some 40 MB. */
const IDLE_MS = 300_000;
/** The next one starts when a command has ended, or runs for so long: not while it begins, which would take its time. */
const SETTLED_MS = 100;

export function createStarter({ command, clock }: StarterOptions): Starter {
  const firstMark = randomInt(1, FIRST_MARKS) * MARKS;
  const running = new Set<ChildProcess>();
  let count = 0;
  let waiting: ChildProcess | undefined;
  let cancelIdle = (): void => undefined;
  let isShut = false;

  const letGo = (): void => {
    cancelIdle();
    requestPipe(waiting)?.end();
    waiting = undefined;
  };
  const keepOne = (): void => {
    if (isShut) return;
    cancelIdle();
    // While commands run it stays: it is also who ends them when the daemon is killed.
    cancelIdle = clock.after(IDLE_MS, () => (running.size === 0 ? letGo() : keepOne()));
    if (waiting) return;
    const child = (waiting = launch(command, firstMark));
    setReferenced(child, false);
    const gone = (): void => {
      if (waiting === child) waiting = undefined;
    };
    child.once("exit", gone).once("error", gone);
  };

  return {
    start({ restriction, run }) {
      const child = waiting ?? launch(command, firstMark);
      waiting = undefined;
      setReferenced(child, true);
      running.add(child);
      const cancelSettled = clock.after(SETTLED_MS, keepOne);
      const ended = (): void => {
        running.delete(child);
        cancelSettled();
        keepOne();
      };
      child.once("exit", ended).once("error", ended);
      const mark = firstMark + (count++ % MARKS);
      const request: SandboxRequest = { restriction, daemon: process.pid, mark, running: running.size, run };
      requestPipe(child)?.end(JSON.stringify(request));
      return { child, mark, reported: reportOf(child) };
    },
    shutdown() {
      isShut = true;
      letGo();
    },
  };
}

/** Limits are read as decimal numbers of 64 bits; here they stay exact. */
const FIRST_MARKS = 2 ** 32;

function launch([file, ...args]: StarterOptions["command"], firstMark: number): ChildProcess {
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

const requestPipe = (child: ChildProcess | undefined): Socket | undefined =>
  child?.stdio[REQUEST_FD] as Socket | undefined;

/** One that waits does not keep the daemon from ending. */
function setReferenced(child: ChildProcess, on: boolean): void {
  const sockets = child.stdio as unknown as readonly (Socket | null | undefined)[];
  for (const each of [child, ...sockets])
    if (on) each?.ref();
    else each?.unref();
}

async function reportOf(child: ChildProcess): Promise<string> {
  const pipe = child.stdio[REPORT_FD] as Readable | null | undefined;
  if (!pipe) return "";
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of pipe) chunks.push(chunk as Buffer);
  } catch {
    // what was not told did not happen
  }
  return Buffer.concat(chunks).toString("utf8");
}
