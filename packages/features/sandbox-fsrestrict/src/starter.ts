/** Starts the children that become commands: each is restricted before it knows its command. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { MARKS } from "./marks.ts";
import { type CommandRequest, REPORT_FD, REQUEST_FD, type Restriction, type SandboxRequest } from "./request.ts";
import { createSweeper } from "./sweeper.ts";
import { userPidsFor } from "./user-pids.ts";

export interface Starter {
  /** Throws what spawning throws. */
  start(what: StartRequest): Started;
  /** Whether commands run. */
  readonly isBusy: boolean;
  /** Ends what serves all commands together, where none runs. It begins anew with the next one. */
  rest(): void;
}

export type StartRequest = Pick<SandboxRequest, "kind" | "restriction" | "folder">;

export interface Started {
  readonly child: ChildProcess;
  /** Identifies its processes: see marks.ts. */
  readonly mark: number;
  /** The lines of its report, when its own program has begun or it has ended. */
  readonly reported: Promise<string>;
  /** Once. */
  begin(command: Omit<CommandRequest, "userPids">): void;
}

/** `command`: the program and its first arguments. */
export function createStarter(command: () => readonly [file: string, ...args: string[]]): Starter {
  const firstMark = randomInt(1, FIRST_MARKS) * MARKS;
  const sweeper = createSweeper({ from: firstMark, to: firstMark + MARKS });
  const running = new Set<ChildProcess>();
  const waiting = new Set<ChildProcess>();
  let count = 0;

  const begin = (child: ChildProcess, restriction: Restriction, request: Omit<CommandRequest, "userPids">): void => {
    waiting.delete(child);
    running.add(child);
    sweeper.begin();
    // The kernel counts those that wait, too: each has one thread of the user.
    const userPids = userPidsFor(restriction, running.size, waiting.size);
    const command: CommandRequest = userPids === undefined ? request : { ...request, userPids };
    requestPipe(child)?.end(`${JSON.stringify(command)}\n`);
  };

  return {
    start({ kind, restriction, folder }) {
      const child = launch(command());
      const mark = firstMark + (count++ % MARKS);
      const over = (): void => {
        waiting.delete(child);
        running.delete(child);
      };
      child.once("exit", over).once("error", over);
      const request: SandboxRequest = { kind, restriction, daemon: process.pid, mark, folder };
      requestPipe(child)?.write(`${JSON.stringify(request)}\n`);
      if (kind === "command") waiting.add(child);
      return { child, mark, reported: reportOf(child), begin: (asked) => begin(child, restriction, asked) };
    },
    get isBusy() {
      return running.size > 0;
    },
    rest() {
      if (running.size === 0) sweeper.end();
    },
  };
}

/** Limits are read as decimal numbers of 64 bits; here they stay exact. */
const FIRST_MARKS = 2 ** 32;

function launch([file, ...args]: readonly [file: string, ...args: string[]]): ChildProcess {
  const child = spawn(file, args, {
    cwd: "/",
    // It is seen in /proc until the command's own program begins: nothing of the daemon's is in it.
    env: {},
    stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"],
    detached: true, // a process group of its own, so that one signal reaches all of the command
  });
  // A child that has ended reads no request; its report shows that it did not begin.
  requestPipe(child)?.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  return child;
}

const requestPipe = (child: ChildProcess): Socket | undefined => child.stdio[REQUEST_FD] as Socket | undefined;

async function reportOf(child: ChildProcess): Promise<string> {
  const pipe = child.stdio[REPORT_FD] as Readable | null | undefined;
  if (!pipe) return "";
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of pipe) chunks.push(chunk as Buffer);
  } catch {
    // what was not reported did not happen
  }
  return Buffer.concat(chunks).toString("utf8");
}
