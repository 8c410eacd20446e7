/** Common to all sandboxes: validates a command, its folder and environment, and leaves none of its processes behind. */
import type { ChildProcess } from "node:child_process";
import { realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import {
  type Clock,
  type Confinement,
  type ExecRequest,
  type ExecResult,
  type SandboxSession,
  SvcError,
} from "@svc/contract";
import { windowsPathTrap } from "../files/paths.ts";
import { commandEnvironment, windowsFolder } from "./command-environment.ts";
import { runProcess } from "./run-process.ts";

/** One command, as a backend is to start it. */
export interface ConfinedCommand {
  /** A program and its arguments: never empty, no NUL in any. */
  readonly words: readonly [string, ...string[]];
  /** Windows: the arguments are put behind the program as they are. */
  readonly verbatim?: boolean;
  /** Absolute real path of the folder to start in: the workspace, or below it. */
  readonly folder: string;
  /** All that it is to see of an environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Something is written to its input; else it has none. */
  readonly hasInput: boolean;
}

/** What a backend does for a session. */
export interface Confining {
  /** As `ProcessRequest.start` wants it. */
  start(command: ConfinedCommand): ChildProcess;
  /** The started process contains all its children (a pid namespace): they end with it, so no search is needed. Default false. */
  readonly holdsAll?: boolean;
  /** Corrects the result where the backend knows more. Throws when the command did not start inside. Default: unchanged. */
  judge?(result: ExecResult, started: ChildProcess): ExecResult | Promise<ExecResult>;
  /** After the last command has ended. Once. */
  close?(): Promise<void>;
}

export interface ConfinedSessionOptions {
  /** Time between SIGTERM and SIGKILL when a command is ended. Default 2000. */
  readonly graceMs?: number;
  /** Default: the runtime's timers. */
  readonly clock?: Pick<Clock, "after">;
}

/** A session over `confining`. Throws TOOL_BAD_INPUT, PATH_OUTSIDE_WORKSPACE for what can't be run. */
export function confinedSession(
  confinement: Confinement,
  confining: Confining,
  options: ConfinedSessionOptions = {},
): SandboxSession {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  return {
    async exec(request) {
      if (closing.signal.aborted) throw sessionClosed();
      const ended = runIn(confinement, confining, request, closing.signal, options);
      running.add(ended);
      try {
        return await ended;
      } finally {
        running.delete(ended);
      }
    },
    close() {
      closing.abort(sessionClosed());
      return (closed ??= Promise.allSettled(running).then(() => confining.close?.()));
    },
  };
}

const MAX_OUTPUT_BYTES = 131_072;
const TIMEOUT_SECS = 120;

async function runIn(
  confinement: Confinement,
  confining: Confining,
  request: ExecRequest,
  closing: AbortSignal,
  { graceMs = 2000, clock }: ConfinedSessionOptions,
): Promise<ExecResult> {
  const words = wordsOf(request);
  const limitMs = (confinement.limits.timeoutSecs ?? TIMEOUT_SECS) * 1000;
  const folder = await folderIn(confinement.workspace, request.cwd);
  const env = commandEnvironment(confinement.workspace, request.unasked === true);
  const hasInput = request.stdin !== undefined || request.interact !== undefined;
  let started: ChildProcess | undefined;
  const result = await runProcess({
    start: (marks) =>
      (started = confining.start({
        words,
        verbatim: isLineOfCmd(request),
        folder,
        env: { ...env, ...marks },
        hasInput,
      })),
    stdin: request.stdin,
    interact: request.interact,
    markPrefix: request.markPrefix,
    timeoutMs: Math.min(request.timeoutMs ?? limitMs, limitMs),
    maxOutputBytes: request.maxOutputBytes ?? MAX_OUTPUT_BYTES,
    binary: request.binary === true,
    signal: request.signal ? AbortSignal.any([request.signal, closing]) : closing,
    graceMs,
    clock,
    holdsAll: confining.holdsAll ?? false,
  });
  return (await confining.judge?.(result, started!)) ?? result;
}

function wordsOf({ command, cwd }: ExecRequest): readonly [string, ...string[]] {
  const words: readonly [string, ...string[]] = typeof command === "string" ? shellWords(command) : command;
  if (words[0].trim() === "" || command === "") throw new SvcError("TOOL_BAD_INPUT", "There is no command.");
  if ([...words, cwd ?? ""].some((word) => word.includes("\0"))) {
    throw new SvcError("TOOL_BAD_INPUT", "A command can't contain a NUL character.");
  }
  const sizes = words.map((word) => Buffer.byteLength(word));
  if (Math.max(...sizes) >= LONGEST_WORD || sizes.reduce((sum, size) => sum + size) > LONGEST_COMMAND) {
    throw new SvcError("TOOL_BAD_INPUT", "The command is too long for the operating system.");
  }
  return words;
}

const isLineOfCmd = ({ command }: ExecRequest): boolean => typeof command === "string" && process.platform === "win32";

/** cmd.exe takes what is between the first and the last quote as the line (`/s`), and no command of the registry first (`/d`). */
const shellWords = (line: string): readonly [string, ...string[]] =>
  process.platform === "win32"
    ? [join(windowsFolder(), "System32", "cmd.exe"), "/d", "/s", "/c", `"${line}"`]
    : ["/bin/sh", "-c", "--", line];

/** `MAX_ARG_STRLEN` of execve(2) on Linux; checked here, because a shell reports a longer word too late. */
const LONGEST_WORD = 131_072;
/** A quarter of the usual stack, less what the environment and the table of words take: execve(2). */
const LONGEST_COMMAND = 1_500_000;

async function folderIn(workspace: string, cwd = "."): Promise<string> {
  try {
    const trap = process.platform === "win32" ? windowsPathTrap(cwd) : undefined;
    if (trap !== undefined) throw new SvcError("PATH_FORBIDDEN", `The folder to run the command in ${trap}.`);
    const root = await realpath(workspace);
    const folder = await realpath(resolve(root, cwd));
    if (folder !== root && !folder.startsWith(root.endsWith(sep) ? root : root + sep)) {
      throw new SvcError("PATH_OUTSIDE_WORKSPACE", "A command starts inside the workspace.");
    }
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    if (error instanceof SvcError) throw error;
  }
  throw new SvcError("TOOL_BAD_INPUT", "The folder to run the command in does not exist.");
}

const sessionClosed = (): SvcError =>
  new SvcError("TOOL_FAILED", "The command was ended because its session was closed.");
