/** What is installed, as the host of the plugins and the command see it. */
import type { ErrorCode, Logger } from "@svc/contract";

/** A plugin that is what was approved when it was installed. */
export interface InstalledPlugin {
  /** Also its folder's. Its tool's comes of it by `toolNameOf`, so that it has at most `MAX_PLUGIN_NAME_CHARS` characters. */
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Absolute. */
  readonly wasmFile: string;
  /** Of the wasm file, as approved: 64 lower-case hex digits. Whoever runs the file compares what they read with it. */
  readonly sha256: string;
  /** As approved, lower case: names or addresses, each with `:port` where it is not the scheme's own. */
  readonly allowedHosts: readonly string[];
  readonly limits: PluginLimits;
  /** Absolute. */
  readonly folder: string;
}

export interface PluginLimits {
  /** Of the module's linear memory. */
  readonly memoryMb: number;
  /** Of one call. */
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

/** A folder among the plugins that is left out. */
export interface PluginProblem {
  /** Absolute. */
  readonly folder: string;
  readonly code: ErrorCode;
  /** A sentence for a person. */
  readonly problem: string;
}

export interface Plugins {
  /** By name. */
  readonly plugins: readonly InstalledPlugin[];
  readonly problems: readonly PluginProblem[];
}

/** `readPlugins` of ./read-plugins.ts: no folder, no plugins. Never throws for what a folder holds. */
export type ReadPlugins = (pluginsFolder: string, log: Logger) => Promise<Plugins>;
