/** One question to a service of speech, asked again while that may help: somebody waits for the answer. */
import { type Clock, type ErrorCode, type FetchOptions, type FetchResult, SvcError } from "@svc/contract";
import { retryAfterMs } from "@svc/kit";
import { retryDelayMs } from "@svc/kit/async";
import type { RunProgram } from "./program.ts";

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
 * What `read` makes of the answer; undefined: it can't be understood. Throws the service's code, without a word
 * of its own; an abort with the signal's reason.
 */
export async function askService<T>(
  parts: SpeechDeps,
  service: SpeechService,
  question: SpeechQuestion,
  read: (answer: FetchResult) => T | undefined,
): Promise<T> {
  const { clock, signal } = parts;
  for (let tries = 1; ; tries += 1) {
    const answer = await askOnce(parts, service, question);
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
