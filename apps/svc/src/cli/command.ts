/** What a command is. The table (table/) is data, so that help, completions and the docs are made of the same lines. */
import type { CommandOptions } from "@svc/contract";
import type { Build } from "../main.ts";
import type { StartTrace } from "./start-trace.ts";

export interface CommandEntry {
  /** Pattern for cac: the word, then `<required>` and `[optional]` arguments. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly (readonly [flags: string, description: string])[];
  readonly examples: readonly string[];
  /** What the first argument may be: the word, then the arguments that this action takes, as in `usage`. */
  readonly actions?: readonly string[];
  readonly load: () => Promise<CommandModule>;
}

export interface CommandModule {
  /** Resolves with the exit code; throws `SvcError` for what the caller can fix. */
  run(context: CommandContext): Promise<number>;
}

export interface CommandContext {
  readonly build: Build;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Arguments after the command's word, as typed. */
  readonly args: readonly string[];
  readonly options: CommandOptions;
  /** Of `svc daemon --trace-start`. */
  readonly startTrace?: StartTrace | undefined;
  /** Writes to standard output. */
  print(text: string): void;
  /** Standard output as a table of JSON for scripts. */
  printJson(value: unknown): void;
}
