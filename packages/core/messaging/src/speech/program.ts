/** A speech program of this machine: words in and sound out, or the other way round. Nothing of it leaves the machine. */
import { type ErrorCode, type ExecResult, SvcError } from "@svc/contract";

export interface ProgramRequest {
  /** A program and its arguments, started without a shell; `{name}` in an argument becomes the path of that file. */
  readonly command: readonly [string, ...string[]];
  /** What the program finds in its folder, by the name of the placeholder. */
  readonly files: Readonly<Record<string, { readonly name: string; readonly bytes: Uint8Array }>>;
  readonly stdin?: string;
  /** Its output is sound. */
  readonly binary?: true;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
}

/** Runs in the sandbox in force, in a folder of its own that is removed then. Throws SANDBOX_UNAVAILABLE, TOOL_*. */
export type RunProgram = (request: ProgramRequest) => Promise<ExecResult>;

/** Of the section that names the program. */
export interface ProgramUse {
  readonly code: ErrorCode;
  readonly section: string;
}

/** Throws the code of its use, without a word that the program said; an abort with the signal's reason. */
export async function useProgram(
  run: RunProgram,
  { code, section }: ProgramUse,
  request: ProgramRequest,
): Promise<ExecResult> {
  const failed = (message: string, cause?: unknown): SvcError =>
    new SvcError(code, message, {
      hint: `Check ${section}.command; svc doctor says whether the program is there.`,
      cause,
    });
  let result: ExecResult;
  try {
    result = await run(request);
  } catch (cause) {
    request.signal.throwIfAborted();
    const why = cause instanceof SvcError ? cause.message : "It could not be started.";
    throw failed(`The program of [${section}] could not be run: ${why}`, cause);
  }
  if (result.timedOut) throw failed(`The program of [${section}] took too long.`);
  // What a sandbox starts in its place ends so when there is no such program inside.
  if (result.exitCode === 127) throw failed(`The program of [${section}] was not found.`);
  if (result.exitCode !== 0) throw failed(`The program of [${section}] failed.`);
  if (result.truncated) throw failed(`The program of [${section}] wrote too much.`);
  return result;
}

export const usesFile = (command: readonly string[], name: string): boolean =>
  command.some((word) => word.includes(`{${name}}`));
