/**
 * One run of the program: `agent-browser --json --session <name> batch --omit-command`, with the commands as JSON on its input.
 * There every word is a word: what the model or a page says is never read as an option, never seen in the list of processes, and
 * no shell is near it. https://agent-browser.dev/commands
 */
import { type Clock, type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, parseJson } from "@svc/kit";
import { elementNotReady, noSuchElement, pageUnreachable, staleRef } from "@svc/kit/browser";
import { runProcess } from "@svc/kit/process";
import { type ChildProcess, spawn } from "node:child_process";

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
  /** The folder to start in: a config file of someone else's in the current one would be read. */
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

/**
 * What the program answers: a JSON list with a row for each command that was run. It is believed only in this form.
 */
export interface Row {
  /** Which of the commands, from 0. */
  readonly index: number;
  readonly success: boolean;
  /** Empty when it failed. */
  readonly result: Fields;
  /** The program's words, which may be a page's: to be understood, never to be shown. Empty when it went well. */
  readonly error: string;
  /** A name for some errors, e.g. `page_wedged`. */
  readonly code: string | undefined;
}

/** Throws BROWSER_FAILED for any other output. */
function rowsOf(output: string, commands: number): readonly Row[] {
  const answer = parseJson(Buffer.from(output));
  if (Array.isArray(answer)) {
    const rows = answer.map((row) => rowOf(row, commands));
    const inOrder = rows.every((row, place) => row?.index === place);
    if (inOrder && rows.length > 0 && rows.length <= commands) return rows as readonly Row[];
  }
  // One error for all: the browser could not even be started.
  const { success, error } = fieldsOf(answer);
  if (success === false && typeof error === "string") throw notStarted(error);
  throw new SvcError("BROWSER_FAILED", "agent-browser gave an answer that svc does not understand.", {
    hint: "An operator should look at its version: svc doctor, agent-browser --version.",
  });
}

function rowOf(row: Json, commands: number): Row | undefined {
  const { index, success, error, result, code } = fieldsOf(row);
  if (typeof success !== "boolean" || typeof index !== "number" || index >= commands) return undefined;
  if (!success && typeof error !== "string") return undefined;
  return {
    index,
    success,
    result: success ? fieldsOf(result) : fieldsOf(null),
    error: typeof error === "string" ? error : "",
    code: typeof code === "string" ? code : undefined,
  };
}

const notStarted = (cause: string): SvcError =>
  new SvcError("BROWSER_UNAVAILABLE", "agent-browser could not start its browser.", {
    hint: "Try the program by hand: agent-browser open about:blank.",
    cause: new Error(cause.slice(0, 500)),
  });

/** What a failure of the program means. Its own words may be a page's, and are not repeated. */
export function failureOf({ error, code }: Row): SvcError {
  if (code === "page_wedged" || error.startsWith("CDP command timed out")) return stuck();
  for (const [pattern, failure] of FAILURES) if (pattern.test(error)) return failure();
  return new SvcError("BROWSER_FAILED", "The browser could not do this.", {
    hint: "Take a snapshot to see the page as it is now.",
    cause: new Error(error.slice(0, 500)),
  });
}

/** By their beginnings where what follows can be a page's. agent-browser 0.41.2. */
const FAILURES: readonly (readonly [RegExp, () => SvcError])[] = [
  [/^Unknown ref: /, staleRef],
  [/^Navigation failed: net::ERR_ABORTED/, () => noPage()],
  [/^Navigation failed: /, () => pageUnreachable()],
  [/^Timed out after \d+ms waiting for load/, () => stillLoading()],
  [/^(?:Element not found|No element found|Invalid selector|\d+ elements? )/, noSuchElement],
  [/^(?:Wait timed out|Element is |Element "?\S* ?is (?:not|covered))/, elementNotReady],
  [/^.{0,300}\bcovered by /, elementNotReady],
  [/^No option matched /, () => noOption()],
  [/^Cannot close the last tab/, () => lastTab()],
  [/^Download was canceled/, () => noDownload()],
];

/** Nothing can be told whether the page will ever answer again. */
export class PageStuck extends SvcError {
  constructor(sentence: string) {
    super("BROWSER_FAILED", sentence, { hint: "Open it again, or another one: another browser is started for it." });
  }
}

const stuck = (): SvcError => new PageStuck("The page does not answer any more.");

const noPage = (): SvcError =>
  new SvcError("BROWSER_FAILED", "There is no page at this address: it is a file, or nothing.", {
    hint: "Use download with url to keep a file.",
  });

const stillLoading = (): SvcError => new SvcError("REMOTE_TIMEOUT", "The page did not answer within the time limit.");

const noOption = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The element has no such option.", {
    hint: "A snapshot shows the options of a list.",
  });

const lastTab = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The last tab can't be closed.", { hint: "The action close ends the browser." });

export const noDownload = (): SvcError =>
  new SvcError("BROWSER_FAILED", "No download came of it.", {
    hint: "Only an element that hands out a file can be a target of download.",
  });
