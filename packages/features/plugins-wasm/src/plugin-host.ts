/** Runs the plugins: each in a separate process, a few at once. */
import { type Clock, SvcError } from "@svc/contract";
import { Semaphore } from "@svc/kit";
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { type CallServices, PluginProcess, tooManyRun, tooManyWait } from "./plugin-process.ts";
import type { InstalledPlugin } from "./installed.ts";
import { checkModule, MAX_MODULE_BYTES } from "./module.ts";

export interface PluginHostOptions {
  /** What starts a process; of `FeatureContext.child`. */
  readonly command: () => readonly [string, ...string[]];
  readonly clock: Clock;
}

export class PluginHost {
  readonly #options: PluginHostOptions;
  /** By the plugin's name. */
  readonly #queues = new Map<string, PluginQueue>();
  readonly #closing = new AbortController();

  constructor(options: PluginHostOptions) {
    this.#options = options;
  }

  /**
   * What the plugin makes of the input. Throws TOOL_FAILED, PLUGIN_CHANGED, PLUGIN_INVALID, BUSY; rejects with the signal's
   * reason.
   */
  async call(plugin: InstalledPlugin, input: string, services: CallServices, signal: AbortSignal): Promise<string> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    either.throwIfAborted();
    const queue = this.#queueOf(plugin);
    if (!queue.isWarm) this.#stopIdle();
    const bytes = new TextEncoder().encode(input);
    const output = await queue.inTurn(
      () => this.#start(plugin, either),
      (process) => process.call(bytes, services, either),
      either,
    );
    return outputText(output);
  }

  /** Ends every process. Idempotent. */
  close(): void {
    this.#closing.abort(new SvcError("DRAINING"));
    for (const queue of this.#queues.values()) queue.end();
  }

  #queueOf({ name }: InstalledPlugin): PluginQueue {
    let queue = this.#queues.get(name);
    if (!queue) this.#queues.set(name, (queue = new PluginQueue(this.#options.clock)));
    return queue;
  }

  /** Ends the process that has waited longest for a call, where there are as many as there may be. Throws BUSY. */
  #stopIdle(): void {
    const warm = [...this.#queues.values()].filter((queue) => queue.isWarm);
    if (warm.length < MOST_PROCESSES) return;
    const idle = warm.filter((queue) => queue.idleSinceMs !== undefined);
    const longest = idle.toSorted((one, other) => (one.idleSinceMs ?? 0) - (other.idleSinceMs ?? 0))[0];
    if (!longest) throw tooManyRun();
    longest.end();
  }

  async #start(plugin: InstalledPlugin, signal: AbortSignal): Promise<PluginProcess> {
    const { command, clock } = this.#options;
    const module = await readModule(plugin);
    signal.throwIfAborted();
    const process = new PluginProcess({ command: command(), limits: plugin.limits, clock });
    try {
      await process.load(module, signal);
      return process;
    } catch (error) {
      process.end();
      throw error;
    }
  }
}

/** Each is some 80 MB. */
const MOST_PROCESSES = 8;

/** The calls of one plugin, one after the other, and the process that they share while there are some. */
class PluginQueue {
  readonly #clock: Clock;
  readonly #lock = new Semaphore(1);
  #calls = 0;
  #process: PluginProcess | undefined;
  #cancelIdle: (() => void) | undefined;
  #usedAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It has a process, or is about to. */
  get isWarm(): boolean {
    return this.#calls > 0 || this.#process !== undefined;
  }

  /** Since when it only waits, by the monotonic clock; undefined: calls run. */
  get idleSinceMs(): number | undefined {
    return this.#calls === 0 && this.#process ? this.#usedAtMs : undefined;
  }

  /** `start`: a loaded process, where it is missing. Rejects with BUSY, what `start` and `use` throw, the signal's reason. */
  async inTurn<T>(
    start: () => Promise<PluginProcess>,
    use: (process: PluginProcess) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    if (this.#calls === MOST_CALLS) throw tooManyWait();
    this.#cancelIdle?.();
    this.#calls += 1;
    try {
      const permit = await this.#lock.acquire(signal);
      try {
        if (this.#process?.isOver !== false) this.#process = await start();
        return await use(this.#process);
      } finally {
        permit.release();
      }
    } finally {
      this.#calls -= 1;
      this.#rest();
    }
  }

  /** Ends the process. Calls that run fail. */
  end(): void {
    this.#cancelIdle?.();
    this.#process?.end();
    this.#process = undefined;
  }

  #rest(): void {
    if (this.#process?.isOver) this.#process = undefined;
    if (this.#calls > 0 || !this.#process) return;
    this.#usedAtMs = this.#clock.monotonic();
    this.#cancelIdle = this.#clock.after(IDLE_MS, () => this.end());
  }
}

/** One runs, the others wait. */
const MOST_CALLS = 9;

/** A process that no one needs takes memory for nothing; starting one takes a moment. */
const IDLE_MS = 60_000;

// The module of a plugin as it was approved, read when a process is to get it.

/** Throws PLUGIN_CHANGED, PLUGIN_INVALID. */
async function readModule({ wasmFile, sha256, limits }: InstalledPlugin): Promise<Uint8Array> {
  const bytes = await read(wasmFile);
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
    throw new SvcError("PLUGIN_CHANGED", "The plugin's wasm file has changed since it was approved.", {
      hint: "Install the plugin again, or remove it.",
    });
  }
  checkModule(bytes, limits);
  return bytes;
}

/** One byte more than the limit: a larger file can't match the hash, and is not read further. */
async function read(path: string): Promise<Uint8Array> {
  try {
    await using file = await open(path);
    const bytes = Buffer.alloc(Math.min((await file.stat()).size, MAX_MODULE_BYTES + 1));
    const { bytesRead } = await file.read(bytes, 0, bytes.byteLength, 0);
    return bytes.subarray(0, bytesRead);
  } catch (cause) {
    throw new SvcError("PLUGIN_CHANGED", "The plugin's wasm file can't be read.", { cause });
  }
}

/** What a plugin gave, as the text that it has to be. Throws TOOL_FAILED. */
function outputText(output: Uint8Array): string {
  // A model takes an empty answer for a call that was lost.
  if (output.byteLength === 0) return "The plugin gave no output.";
  const text = decoded(output);
  if (text.includes("\0"))
    throw new SvcError("TOOL_FAILED", "The plugin's output has NUL characters in it: it is no text.");
  return text;
}

function decoded(output: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(output);
  } catch {
    throw new SvcError("TOOL_FAILED", "The plugin's output is not UTF-8.");
  }
}
