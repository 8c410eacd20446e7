/** One process, in which one plugin runs one call after the other. Any failure ends it; the next call starts a new one. */
import { type Clock, SvcError } from "@svc/contract";
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import * as v from "valibot";
import {
  FRAME_PREFIX_BYTES,
  type FailureKind,
  type FromProcess,
  LIFELINE,
  MAX_HEAD_BYTES,
  MAX_HTTP_BODY_BYTES,
  type PluginRequest,
  type ToProcess,
  encodeFrame,
  lengthsOf,
} from "./frames.ts";
import type { PluginLimits } from "./installed.ts";
import { PAGE_BYTES } from "./module.ts";

export interface ProcessOptions {
  /** Of `FeatureContext.child`. */
  readonly command: readonly [string, ...string[]];
  readonly limits: PluginLimits;
  readonly clock: Clock;
}

/** What a plugin gets of the service while it runs. */
export interface CallServices {
  /** `signal`: aborted when the call is over. Rejects with an SvcError whose message the plugin gets. */
  request(request: PluginRequest, body: Uint8Array, signal: AbortSignal): Promise<PluginAnswer>;
  log(line: Uint8Array): void;
}

export interface PluginAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export class PluginProcess {
  readonly #child: ChildProcess;
  readonly #limits: PluginLimits;
  readonly #clock: Clock;
  #isLoaded = false;
  #isOver = false;
  /** Who waits for its next frame. */
  #listener: { onFrame(frame: ReceivedFrame): void; onEnd(error: SvcError): void } | undefined;

  constructor({ command, limits, clock }: ProcessOptions) {
    this.#limits = limits;
    this.#clock = clock;
    this.#child = started(() => launch(command, limits.memoryMb));
    const { stdin, stdout } = this.#child;
    this.#child.on("error", (error) => this.#over(cannotStart(error)));
    this.#child.on("exit", () => this.#over(this.#isLoaded ? endedByItself() : cannotStart()));
    stdin?.on("error", () => undefined);
    this.#child.stdio[LIFELINE]?.on("error", () => undefined);
    if (!stdout) return;
    readFrames(stdout, Math.max(limits.maxOutputBytes, MAX_HTTP_BODY_BYTES), {
      onFrame: (frame) => (this.#listener ? this.#listener.onFrame(frame) : this.#over(brokeFormat())),
      onBroken: () => this.#over(brokeFormat()),
    });
  }

  /** It takes no more calls. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** First, and once. Throws PLUGIN_INVALID, TOOL_FAILED; rejects with the signal's reason. */
  async load(module: Uint8Array, signal: AbortSignal): Promise<void> {
    const { memoryMb, maxOutputBytes } = this.#limits;
    const maxHostBytes = memoryMb * 1_048_576;
    const head = { kind: "load", maxPages: maxHostBytes / PAGE_BYTES, maxHostBytes, maxOutputBytes } as const;
    await this.#ask(head, module, "ready", LOAD_MS, signal);
    this.#isLoaded = true;
  }

  /** Not while another runs. Throws TOOL_FAILED, PLUGIN_INVALID; rejects with the signal's reason. */
  call(input: Uint8Array, services: CallServices, signal: AbortSignal): Promise<Uint8Array> {
    return this.#ask({ kind: "call" }, input, "output", this.#limits.timeoutMs, signal, services);
  }

  /** Ends the process; pending calls reject. Idempotent. */
  end(): void {
    this.#over(endedByItself());
  }

  #ask(
    head: ToProcess,
    body: Uint8Array,
    wanted: "ready" | "output",
    limitMs: number,
    signal: AbortSignal,
    services?: CallServices,
  ): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    if (this.#isOver) return Promise.reject(endedByItself());
    signal.throwIfAborted();
    const ended = new AbortController();
    let isRequesting = false;
    const settle = (settled: () => void): void => {
      this.#listener = undefined;
      stopWatching();
      cancelLimit();
      signal.removeEventListener("abort", abort);
      ended.abort(new SvcError("CANCELLED"));
      settled();
    };
    const onEnd = (error: unknown): void => settle(() => reject(error));
    const abort = (): void => {
      onEnd(signal.reason);
      this.end();
    };
    const cancelLimit = this.#clock.after(limitMs, () => this.#over(tookTooLong(limitMs)));
    const stopWatching = watchMemory(this.#child.pid ?? 0, this.#mostBytes(), this.#clock, () =>
      this.#over(tookTooMuchMemory()),
    );
    signal.addEventListener("abort", abort, { once: true });
    const onFrame = (frame: ReceivedFrame): void => {
      const { head: said } = frame;
      if (said.kind === wanted) settle(() => resolve(frame.body));
      else if (said.kind === "failed") onEnd(failureOf(said.how, frame.body));
      else if (said.kind === "log" && services) services.log(frame.body);
      else if (said.kind === "request" && services && !isRequesting) {
        isRequesting = true;
        void answerTo(services.request(said, frame.body, ended.signal)).then(([answer, content]) => {
          isRequesting = false;
          if (!ended.signal.aborted) this.#send(answer, content);
        });
      } else this.#over(brokeFormat());
    };
    this.#listener = { onFrame, onEnd };
    this.#send(head, body);
    return promise;
  }

  #send(head: ToProcess, body: Uint8Array): void {
    this.#child.stdin?.write(encodeFrame(head, body));
  }

  #over(error: SvcError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // A loop in the engine hears no other signal.
    this.#child.kill("SIGKILL");
    for (const pipe of this.#child.stdio) pipe?.destroy();
    this.#listener?.onEnd(error);
  }

  /** The module's memory and what it has of the host, each twice where a call is over and not yet forgotten, and Node itself. */
  #mostBytes(): number {
    return (256 + 4 * this.#limits.memoryMb) * 1_048_576;
  }
}

/** To start the process, and to compile the module. */
const LOAD_MS = 20_000;

function started(start: () => ChildProcess): ChildProcess {
  try {
    return start();
  } catch (error) {
    throw cannotStart(error);
  }
}

async function answerTo(answered: Promise<PluginAnswer>): Promise<readonly [ToProcess, Uint8Array]> {
  try {
    const { status, headers, body } = await answered;
    return [{ kind: "answer", status, headers }, body];
  } catch (error) {
    const why = error instanceof SvcError ? error.message : "its request failed.";
    return [{ kind: "refusal" }, new TextEncoder().encode(why)];
  }
}

// Starts the process of a plugin, with as little as the operating system lets us give it.

/** `command`: of `FeatureContext.child`. `memoryMb`: what the plugin's module may have. */
export function launch(command: readonly [string, ...string[]], memoryMb: number): ChildProcess {
  const [file, ...args] = process.platform === "win32" ? command : confined(command, memoryMb);
  return spawn(file, args, {
    cwd: "/",
    env: environment(),
    // Errors come as frames; the engine's own output on a crash is discarded. The last descriptor is the lifeline.
    stdio: ["pipe", "pipe", "ignore", "pipe"],
    windowsHide: true,
  });
}

/** Windows starts no program without it. */
function environment(): Record<string, string> {
  const { SystemRoot: root } = process.env;
  return process.platform === "win32" && root ? { SystemRoot: root } : {};
}

/**
 * Limits of the kernel: no file is written, no core is dumped, and memory ends before the machine's does. A limit that is
 * lower already stays.
 */
function confined(command: readonly [string, ...string[]], memoryMb: number): [string, ...string[]] {
  const dataKb = (RESERVED_MB + 2 * memoryMb) * 1024;
  const limits = ["-c 0", "-f 0", "-s 8192", `-d ${dataKb}`].map((limit) => `ulimit ${limit} 2>/dev/null;`).join(" ");
  return ["/bin/sh", "-c", `${limits} exec "$@"`, "sh", ...command];
}

/**
 * The kernel counts what the engine sets aside for code, half a GiB for each of the two threads that run any, and the stacks
 * of all. About 400 MB of it are left to be used: a wide limit, for what is faster than the service that watches from outside.
 */
const RESERVED_MB = 1536;

/** Reads frames of a plugin's process as they come. What does not fit the format ends the process. */
interface ReceivedFrame {
  readonly head: FromProcess;
  readonly body: Uint8Array;
}

export interface FrameListener {
  readonly onFrame: (frame: ReceivedFrame) => void;
  /** It broke the format; nothing that follows is read. */
  readonly onBroken: () => void;
}

function readFrames(stream: Readable, maxBodyBytes: number, { onFrame, onBroken }: FrameListener): void {
  let waiting: Buffer[] = [];
  let size = 0;
  let wanted = FRAME_PREFIX_BYTES;
  const take = (bytes: Buffer): Buffer => {
    const { head, body } = lengthsOf(bytes);
    if (head > MAX_HEAD_BYTES || body > maxBodyBytes) throw new RangeError("the frame is too large");
    const end = FRAME_PREFIX_BYTES + head + body;
    if (bytes.byteLength < end) {
      wanted = end;
      return bytes;
    }
    const text = bytes.toString("utf8", FRAME_PREFIX_BYTES, FRAME_PREFIX_BYTES + head);
    onFrame({ head: v.parse(headSchema, JSON.parse(text)), body: bytes.subarray(FRAME_PREFIX_BYTES + head, end) });
    wanted = FRAME_PREFIX_BYTES;
    return bytes.subarray(end);
  };
  const onData = (chunk: Buffer): void => {
    waiting.push(chunk);
    size += chunk.byteLength;
    if (size < wanted) return;
    try {
      // Joined once for each frame, however many pieces a large one comes in.
      let rest: Buffer = Buffer.concat(waiting, size);
      while (rest.byteLength >= wanted) {
        const left = take(rest);
        if (left === rest) break;
        rest = left;
      }
      waiting = [rest];
      size = rest.byteLength;
    } catch {
      stream.off("data", onData).resume();
      onBroken();
    }
  };
  stream.on("error", () => undefined).on("data", onData);
}

const shortText = v.pipe(v.string(), v.maxLength(MAX_HEAD_BYTES));

const headSchema = v.variant("kind", [
  v.strictObject({ kind: v.literal("ready") }),
  v.strictObject({ kind: v.literal("output") }),
  v.strictObject({
    kind: v.literal("failed"),
    how: v.picklist(["invalid", "reported", "crashed", "stopped"]),
  }),
  v.strictObject({
    kind: v.literal("request"),
    method: shortText,
    url: shortText,
    headers: v.record(v.string(), v.string()),
  }),
  v.strictObject({ kind: v.literal("log") }),
]) satisfies v.GenericSchema<unknown, FromProcess>;

// Watches from outside what a process has of the machine's memory.

/**
 * Calls `onOver` once if it has more than `limitBytes`; the result ends the watch. On Linux: elsewhere there is the engine's
 * limit of the module's memory, and the operating system's.
 */
export function watchMemory(pid: number, limitBytes: number, clock: Clock, onOver: () => void): () => void {
  if (process.platform !== "linux") return () => undefined;
  let cancel: () => void;
  let isOver = false;
  const look = async (): Promise<void> => {
    const bytes = await residentBytes(pid);
    if (isOver) return;
    if (bytes > limitBytes) onOver();
    else cancel = clock.after(EVERY_MS, () => void look());
  };
  cancel = clock.after(EVERY_MS, () => void look());
  return () => {
    isOver = true;
    cancel();
  };
}

const EVERY_MS = 100;

/** proc(5), statm: pages; the second value is the resident size. */
async function residentBytes(pid: number): Promise<number> {
  try {
    const [, pages] = (await readFile(`/proc/${pid}/statm`, "latin1")).split(" ");
    return Number(pages) * OS_PAGE_BYTES;
  } catch {
    return 0; // It has ended, which others notice.
  }
}

/** Where pages are larger, more of them is seen than there is only by machines that have so much more of it. */
const OS_PAGE_BYTES = 4096;

// Failures of a plugin as errors for its caller.

/** `text`: of the plugin or its process; a model reads it as it reads what a tool gives. */
function failureOf(how: FailureKind, text: Uint8Array): SvcError {
  const said = printable(text) || "it did not say what";
  switch (how) {
    case "invalid":
      return new SvcError("PLUGIN_INVALID", `The engine does not take the plugin's module: ${said}`);
    case "reported":
      return new SvcError("TOOL_FAILED", `The plugin reports an error: ${said}`);
    case "crashed":
      return new SvcError("TOOL_FAILED", `The plugin crashed: ${said}`);
    case "stopped":
      return new SvcError("TOOL_FAILED", `The plugin was stopped: ${said}`);
  }
}

const tookTooLong = (limitMs: number): SvcError =>
  new SvcError("TOOL_FAILED", `The plugin was stopped: it took longer than ${limitMs / 1000} s.`);

const tookTooMuchMemory = (): SvcError =>
  new SvcError("TOOL_FAILED", "The plugin was stopped: it used more memory than it may have.");

const endedByItself = (): SvcError =>
  new SvcError(
    "TOOL_FAILED",
    "The plugin's process came to an end before the call did: it used more memory than it may have, or broke the engine.",
  );

const brokeFormat = (): SvcError =>
  new SvcError("TOOL_FAILED", "The plugin was stopped: its process said what no plugin can say.");

const cannotStart = (cause?: unknown): SvcError =>
  new SvcError("TOOL_FAILED", "The process that the plugin runs in can't be started, or not with its module.", {
    cause,
  });

export const tooManyWait = (): SvcError =>
  new SvcError("BUSY", "Too many calls of this plugin are waiting; try again shortly.");

export const tooManyRun = (): SvcError =>
  new SvcError("BUSY", "Too many plugins are running at once; try again shortly.");

/** One line, without what drives a terminal or hides text. */
export const printable = (text: Uint8Array): string =>
  new TextDecoder()
    .decode(text)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
