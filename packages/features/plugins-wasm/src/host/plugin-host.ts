/** Runs the plugins: each in a process of its own, a few of them at once. */
import { type Clock, SvcError } from "@svc/contract";
import type { InstalledPlugin } from "../manifest/types.ts";
import { tooManyRun } from "./failures.ts";
import { Lane } from "./lane.ts";
import { outputText } from "./output-text.ts";
import { type CallServices, PluginProcess } from "./plugin-process.ts";
import { readModule } from "./read-module.ts";

export interface PluginHostOptions {
  /** What starts a process; of `FeatureContext.child`. */
  readonly command: () => readonly [string, ...string[]];
  readonly clock: Clock;
}

export class PluginHost {
  readonly #options: PluginHostOptions;
  /** By the plugin's name. */
  readonly #lanes = new Map<string, Lane>();
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
    const lane = this.#laneOf(plugin);
    if (!lane.isWarm) this.#makeRoom();
    const bytes = new TextEncoder().encode(input);
    const output = await lane.inTurn(
      () => this.#start(plugin, either),
      (process) => process.call(bytes, services, either),
      either,
    );
    return outputText(output);
  }

  /** Ends every process. Idempotent. */
  close(): void {
    this.#closing.abort(new SvcError("DRAINING"));
    for (const lane of this.#lanes.values()) lane.end();
  }

  #laneOf({ name }: InstalledPlugin): Lane {
    let lane = this.#lanes.get(name);
    if (!lane) this.#lanes.set(name, (lane = new Lane(this.#options.clock)));
    return lane;
  }

  /** Ends the process that has waited longest for a call, where there are as many as there may be. Throws BUSY. */
  #makeRoom(): void {
    const warm = [...this.#lanes.values()].filter((lane) => lane.isWarm);
    if (warm.length < MOST_PROCESSES) return;
    const idle = warm.filter((lane) => lane.idleSinceMs !== undefined);
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
