/** Runs a program to its end: bounded output, time limit, the whole tree ended, and the limit it hit. */
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  type Clock,
  type ExecRequest,
  type ExecResult,
  type Interaction,
  type SandboxLimit,
  type SandboxLimits,
  SvcError,
} from "@svc/contract";
import { runtimeTimers } from "../async/timeout.ts";
import { MARK, killTree } from "./process-tree.ts";
import type { Readable } from "node:stream";

export interface ProcessRequest {
  /**
   * Starts it with these variables added to its environment, in its own process group (`detached`), with its output in pipes,
   * and its input too if the request has any.
   */
  readonly start: (marks: Readonly<Record<string, string>>) => ChildProcess;
  readonly stdin: string | undefined;
  /** As `ExecRequest.interact`; then `timeoutMs` is not counted. */
  readonly interact?: ExecRequest["interact"] | undefined;
  /** As `ExecRequest.markPrefix`. */
  readonly markPrefix?: string | undefined;
  readonly timeoutMs: number;
  /** Per stream. */
  readonly maxOutputBytes: number;
  /** As `ExecRequest.binary`. */
  readonly binary?: boolean;
  readonly signal: AbortSignal;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  readonly clock: Pick<Clock, "after"> | undefined;
  /** Its children end with it: skips the search for escaped ones among all processes of the machine. */
  readonly holdsAll?: boolean;
}

/**
 * Runs a program to its end and leaves no process behind: its background processes end with it. A timeout or an abort sends
 * SIGTERM to the whole tree, then SIGKILL. Rejects with the signal's reason after an abort.
 */
export async function runProcess(request: ProcessRequest): Promise<ExecResult> {
  request.signal.throwIfAborted();
  const mark = `${request.markPrefix ?? ""}${randomUUID()}`;
  const child = start(request, mark);
  const clock = request.clock ?? runtimeTimers;
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const killed = async (signal: NodeJS.Signals): Promise<void> => {
    if (process.platform !== "win32" || !hasEnded()) await killTree(child.pid, mark, signal);
  };
  let ending = false;
  let timedOut = false;
  const cancels: (() => void)[] = [];

  const end = (): void => {
    if (ending) return;
    ending = true;
    void killed("SIGTERM");
    cancels.push(clock.after(request.graceMs, () => void killed("SIGKILL")));
  };
  const flooded = (): void => void killed("SIGKILL");
  const { interact } = request;
  const stdout = cappedOutput(interact ? null : child.stdout, request.maxOutputBytes, flooded);
  const stderr = cappedOutput(child.stderr, request.maxOutputBytes, flooded);
  if (!interact) {
    cancels.push(
      clock.after(request.timeoutMs, () => {
        timedOut = true;
        end();
      }),
    );
  }
  request.signal.addEventListener("abort", end, { once: true });
  if (interact) interact(interactionOf(child));
  else feed(child, request.stdin);
  try {
    const exit = await exited(child);
    // While ending, the children get the grace period too; otherwise kill background processes at once.
    if (!ending && !request.holdsAll) await killed("SIGKILL");
    // A process that got away from its group and hid its mark may hold the pipes open: it is not waited for.
    const late = new Promise<void>((resolve) => cancels.push(clock.after(request.graceMs * 2, resolve)));
    await Promise.race([exit.closed, late]);
    if (ending) await killed("SIGKILL");
    request.signal.throwIfAborted();
    return {
      exitCode: exit.code,
      signal: exit.signal,
      stdout: request.binary ? "" : stdout.text(),
      ...(request.binary && { stdoutBytes: stdout.bytes() }),
      stderr: stderr.text(),
      truncated: stdout.truncated || stderr.truncated,
      timedOut,
    };
  } finally {
    for (const cancel of cancels) cancel();
    request.signal.removeEventListener("abort", end);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function start(request: ProcessRequest, mark: string): ChildProcess {
  try {
    return request.start({ [MARK]: mark });
  } catch (error) {
    throw startError(error);
  }
}

/** Resolves when the program itself has ended; `closed` when no process holds its output any more. */
function exited(child: ChildProcess): Promise<{ code: number | null; signal: string | null; closed: Promise<void> }> {
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return new Promise((resolve, reject) => {
    child.on("error", (error) => {
      if (child.pid === undefined) reject(startError(error));
    });
    child.once("exit", (code, signal) => resolve({ code, signal, closed }));
  });
}

function feed(child: ChildProcess, stdin: string | undefined): void {
  // A program that does not read its input is no failure.
  child.stdin?.on("error", () => undefined).end(stdin);
}

function interactionOf(child: ChildProcess): Interaction {
  const { pid, stdin, stdout } = child;
  stdin?.on("error", () => undefined);
  stdout?.on("error", () => undefined);
  return {
    pid,
    exited: new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    }),
    output: stdout ?? NOTHING,
    write: (chunk) =>
      new Promise((resolve, reject) => {
        if (!stdin || stdin.destroyed) return reject(new SvcError("TOOL_FAILED", "The program reads no more."));
        stdin.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

const NOTHING: Interaction["output"] = { [Symbol.asyncIterator]: () => ({ next: async () => END }) };
const END = { done: true, value: undefined } as const;

function startError(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "ENOENT") return new SvcError("TOOL_BAD_INPUT", "The program was not found on this machine.");
  if (code === "EACCES") return new SvcError("TOOL_BAD_INPUT", "The file is not a program that may be run.");
  if (code === "E2BIG") return new SvcError("TOOL_BAD_INPUT", "The command is too long for the operating system.");
  return new SvcError("TOOL_FAILED", "The operating system could not start the command.", { cause: error });
}

interface CappedOutput {
  readonly truncated: boolean;
  bytes(): Uint8Array;
  /** What was kept, as text: a character that the cap cut in two is left out. */
  text(): string;
}

/**
 * Keeps the first `maxBytes` of a stream and drops the rest while it flows, so that a program with much to say can finish.
 * One that never stops (`yes`) would keep a processor busy until its timeout: `flooded` is called once the output is far
 * longer than any reader needs.
 */
function cappedOutput(stream: Readable | null, maxBytes: number, flooded: () => void): CappedOutput {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let seen = 0;
  stream?.on("error", () => undefined);
  stream?.on("data", (chunk: Buffer) => {
    if (seen <= FLOOD_BYTES && seen + chunk.byteLength > FLOOD_BYTES) flooded();
    seen += chunk.byteLength;
    if (bytes >= maxBytes) return;
    // Copied: a slice would keep the whole chunk in memory.
    const part = Buffer.from(chunk.subarray(0, maxBytes - bytes));
    chunks.push(part);
    bytes += part.byteLength;
  });
  return {
    get truncated() {
      return seen > maxBytes;
    },
    bytes: () => Buffer.concat(chunks),
    text() {
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      return decoder.decode(Buffer.concat(chunks), { stream: seen > maxBytes });
    },
  };
}

const FLOOD_BYTES = 268_435_456;

/**
 * Guesses the limit that a command hit, from how it ended. Beyond an rlimit the kernel only fails the call, so the program's
 * output is the only sign. The guess informs a person; no decision depends on it.
 */
export function limitBySigns(
  { exitCode, signal, stderr }: Pick<ExecResult, "exitCode" | "signal" | "stderr">,
  limits: SandboxLimits,
): SandboxLimit | undefined {
  if (exitCode === 0) return undefined;
  if (limits.cpuSecs !== undefined && (signal === "SIGXCPU" || exitCode === 128 + SIGXCPU)) return "cpuSecs";
  if (limits.pids !== undefined && NO_PROCESS.test(stderr)) return "pids";
  if (limits.memoryMb !== undefined && NO_MEMORY.test(stderr)) return "memoryMb";
  return undefined;
}

/** Of Linux; of macOS too. */
const SIGXCPU = 24;

/** EAGAIN of fork(2) and clone(2), as shells, libraries and languages say it. */
const NO_PROCESS = /resource temporarily unavailable|cannot fork|can't fork|unable to fork|can't start new thread/i;

/** ENOMEM of mmap(2) and brk(2), likewise. */
const NO_MEMORY =
  /out of memory|cannot allocate memory|can't allocate memory|memory exhausted|MemoryError|bad_alloc|OutOfMemoryError/i;
