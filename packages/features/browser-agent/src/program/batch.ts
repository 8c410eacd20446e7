/**
 * One run of the program: `agent-browser --json --session <name> batch --omit-command`, with the commands as JSON on its input.
 * There every word is a word: what the model or a page says is never read as an option, never seen in the list of processes, and
 * no shell is near it. https://agent-browser.dev/commands
 */
import { type ChildProcess, spawn } from "node:child_process";
import { type Clock, SvcError } from "@svc/contract";
import { runProcess } from "@svc/kit/process";
import { PageStuck } from "./failures.ts";
import { type Row, rowsOf } from "./rows.ts";

/** A command's name and its words. */
export type Command = readonly [string, ...string[]];

export interface Program {
  /**
   * Runs the commands one after the other, and tells what came of each. With `bail` those after a failure are not run. Rejects with
   * BROWSER_FAILED when the program does not keep to its time or its format, and with the signal's reason.
   */
  batch(commands: readonly Command[], options: BatchOptions): Promise<readonly Row[]>;
}

export interface BatchOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly bail?: boolean;
}

export interface ProgramOptions {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  /** The folder to start in: a config file of somebody else's in the current one would be read. */
  readonly folder: string;
  readonly clock: Clock;
}

export function program({ file, env, folder, clock }: ProgramOptions): Program {
  const start = (bail: boolean): ChildProcess =>
    spawn(file, ["--json", "--session", SESSION, "batch", "--omit-command", ...(bail ? ["--bail"] : [])], {
      cwd: folder,
      // Without the mark of this one run: the browser, which its first run starts, is to stay when the run has ended.
      env: { ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
  return {
    async batch(commands, { signal, timeoutMs, bail = true }) {
      const { stdout, timedOut, truncated } = await runProcess({
        start: () => start(bail),
        stdin: JSON.stringify(commands),
        timeoutMs,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        signal,
        graceMs: 500,
        clock,
      });
      if (timedOut) throw notInTime();
      if (truncated) throw tooMuch();
      return rowsOf(stdout, commands.length);
    },
  };
}

/** Each session has folders of its own, so that all can have the same name. */
const SESSION = "svc";

/** The largest page that can be read at once: a snapshot of 50 000 elements. */
const MAX_OUTPUT_BYTES = 16_777_216;

const notInTime = (): SvcError => new PageStuck("agent-browser did not answer in time.");

const tooMuch = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The page is too large to be read at once.", {
    hint: "Name a part of it as target, by a CSS selector.",
  });
