/** What speech is made and read by: a service over HTTP, or a program of this machine. */
import {
  type Clock,
  type ErrorCode,
  type ExecResult,
  type FetchOptions,
  type FetchResult,
  SvcError,
} from "@svc/contract";
import { retryAfterMs } from "@svc/kit";
import { retryDelayMs } from "@svc/kit/async";

export interface SpeechDeps {
  readonly fetch: (url: string, options?: FetchOptions) => Promise<FetchResult>;
  readonly runProgram: RunProgram;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What errors say of a service. */
export interface SpeechService {
  readonly code: ErrorCode;
  /** "transcribes": what it does, as its errors name it. */
  readonly does: string;
  /** Of config.toml. */
  readonly section: string;
}

export interface SpeechQuestion {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** Of the answer. */
  readonly maxBytes: number;
  /** Of one try, in milliseconds. */
  readonly timeoutMs: number;
  /** Statuses beside 200 whose answers are for `read`, too. */
  readonly alsoRead?: readonly number[];
}

const TRIES = 3;
/** A service that asks for a longer delay is not waited for. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000 } as const;

/**
 * One question to a service, asked again while that may help. What `read` makes of the answer; undefined: it can't be understood. Throws the service's code, without a word
 * of its own; an abort with the signal's reason.
 */
export async function askService<T>(
  deps: SpeechDeps,
  service: SpeechService,
  question: SpeechQuestion,
  read: (answer: FetchResult) => T | undefined,
): Promise<T> {
  const { clock, signal } = deps;
  for (let tries = 1; ; tries += 1) {
    const answer = await askOnce(deps, service, question);
    if (!(answer instanceof Trouble)) {
      const made = read(answer);
      if (made === undefined) throw new SvcError(service.code, "The service's answer can't be understood.");
      return made;
    }
    if (!answer.mayPass || tries === TRIES) throw answer.error;
    const askedMs = Math.min(answer.error.retryAfterMs ?? 0, BACKOFF.longestMs);
    await clock.sleep(retryDelayMs(tries, BACKOFF, { askedMs }), signal);
  }
}

class Trouble {
  readonly error: SvcError;
  readonly mayPass: boolean;

  constructor(error: SvcError, mayPass: boolean) {
    this.error = error;
    this.mayPass = mayPass;
  }
}

async function askOnce(
  { fetch, clock, signal }: SpeechDeps,
  service: SpeechService,
  { url, apiKey, contentType, body, maxBytes, timeoutMs, alsoRead = [] }: SpeechQuestion,
): Promise<FetchResult | Trouble> {
  let answer: FetchResult;
  try {
    answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": contentType, ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body,
      maxBytes,
      // The key must not go where a redirect leads.
      redirects: "same-host",
      timeoutMs,
      signal,
    });
  } catch (cause) {
    signal.throwIfAborted();
    return unreachable(service, cause);
  }
  return [200, ...alsoRead].includes(answer.status) ? answer : refusal(service, answer, clock.now());
}

function unreachable({ code, does, section }: SpeechService, cause: unknown): Trouble {
  const why = cause instanceof SvcError ? cause.code : "INTERNAL";
  const message =
    why === "ADDRESS_REFUSED"
      ? `The address of the service that ${does} is refused.`
      : `The service that ${does} could not be reached.`;
  const hint = `Check ${section}.base_url.`;
  return new Trouble(new SvcError(code, message, { cause, hint }), why.startsWith("REMOTE_"));
}

/** Its own words are not repeated: they may quote the key. */
function refusal({ code, does, section }: SpeechService, { status, headers }: FetchResult, nowMs: number): Trouble {
  const waitMs = retryAfterMs(headers["retry-after"], nowMs);
  const error = new SvcError(code, `The service that ${does} answered with status ${status}.`, {
    hint: status === 401 || status === 403 ? `Check ${section}.api_key.` : `Check [${section}] in config.toml.`,
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  });
  return new Trouble(error, status === 408 || status === 429 || status >= 500);
}

/** A speech program of this machine: words in and sound out, or the other way round. Nothing of it leaves the machine. */
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
interface ProgramUse {
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
