/** One process, in which one plugin runs one call after the other. Whatever goes wrong ends it; the next call has a new one. */
import type { ChildProcess } from "node:child_process";
import { type Clock, SvcError } from "@svc/contract";
import type { PluginLimits } from "../manifest/types.ts";
import { brokeFormat, cannotStart, endedByItself, failureOf, tookTooLong, tookTooMuchMemory } from "./failures.ts";
import { encodeFrame, LIFELINE, MAX_HTTP_BODY_BYTES, type PluginRequest, type ToProcess } from "./frames.ts";
import { readFrames, type ReceivedFrame } from "./frame-reader.ts";
import { launch } from "./launch.ts";
import { PAGE_BYTES } from "./module/abi.ts";
import { watchMemory } from "./watch-memory.ts";

export interface ProcessOptions {
  /** Of `FeatureContext.child`. */
  readonly command: readonly [string, ...string[]];
  readonly limits: PluginLimits;
  readonly clock: Clock;
}

/** What a plugin gets of the service while it runs. */
export interface CallServices {
  /** `signal`: aborted when the call is over. Rejects with an SvcError whose message the plugin is told. */
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

  /** Whoever waits for it is told that it ended. Idempotent. */
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
