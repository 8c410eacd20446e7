/**
 * Starts the children that become commands. From the first command on, one is kept waiting: it has started already when the
 * next command comes. It ends when nothing came for a while, with the feature, and by itself when the daemon is gone.
 */
import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import type { Readable } from "node:stream";
import type { Clock } from "@svc/contract";
import { MARKS } from "./marks.ts";
import { REPORT_FD, type SandboxRequest } from "./request.ts";
import {
  endWaiting,
  type GroupWish,
  launch,
  move,
  type Ready,
  requestPipe,
  setReferenced,
  type Waiting,
} from "./waiting-child.ts";

export interface Starter {
  /** A child that has its request. Throws what spawning throws. */
  start(what: StartRequest): Started;
  /** The one that waits, where it is in a group of these limits already. */
  take(key: string): Promise<Ready | undefined>;
  /** Ends the one that waits; what runs goes on. Idempotent. */
  shutdown(): Promise<void>;
}

export interface StartRequest extends Pick<SandboxRequest, "restriction" | "run"> {
  /** The child that was taken for it. Default: whoever waits, or a new one. */
  readonly child?: ChildProcess | undefined;
  /** The group that the next one is to wait in: the kernel takes some 10 ms to move a process, which no command has to wait for then. */
  readonly nextGroup?: GroupWish | undefined;
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
  let waiting: Waiting | undefined;
  const ending = new Set<Promise<void>>();
  let cancelIdle = (): void => undefined;
  let isShut = false;

  const letGo = (): void => {
    cancelIdle();
    if (!waiting) return;
    const gone = endWaiting(waiting).finally(() => ending.delete(gone));
    ending.add(gone);
    waiting = undefined;
  };
  const keepOne = (wish: GroupWish | undefined): void => {
    if (isShut) return;
    cancelIdle();
    // While commands run it stays: it is also who ends them when the daemon is killed.
    cancelIdle = clock.after(IDLE_MS, () => (running.size === 0 ? letGo() : keepOne(wish)));
    if (waiting) return;
    const one: Waiting = (waiting = { child: launch(command, firstMark) });
    setReferenced(one.child, false);
    if (wish) one.moving = move(one, wish);
    const gone = (): void => {
      if (waiting === one) letGo();
    };
    one.child.once("exit", gone).once("error", gone);
  };

  return {
    start({ restriction, run, child: taken, nextGroup }) {
      const child = taken ?? (waiting?.moving ? undefined : waiting?.child) ?? launch(command, firstMark);
      if (waiting?.child === child) waiting = undefined;
      setReferenced(child, true);
      running.add(child);
      const cancelSettled = clock.after(SETTLED_MS, () => keepOne(nextGroup));
      const over = (): void => {
        running.delete(child);
        cancelSettled();
        keepOne(nextGroup);
      };
      child.once("exit", over).once("error", over);
      const mark = firstMark + (count++ % MARKS);
      const request: SandboxRequest = { restriction, daemon: process.pid, mark, running: running.size, run };
      requestPipe(child)?.end(JSON.stringify(request));
      return { child, mark, reported: reportOf(child) };
    },
    async take(key) {
      await waiting?.moving;
      // Another one may wait by now.
      const { child, grouped } = waiting ?? {};
      if (!child || grouped?.key !== key) return undefined;
      waiting = undefined;
      setReferenced(child, true);
      return { child, group: grouped.group };
    },
    async shutdown() {
      isShut = true;
      letGo();
      await Promise.all(ending);
    },
  };
}

/** Limits are read as decimal numbers of 64 bits; here they stay exact. */
const FIRST_MARKS = 2 ** 32;

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
