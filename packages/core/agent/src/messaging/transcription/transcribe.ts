/** A recording as text, by a service that speaks OpenAI's `/audio/transcriptions`. */
import { type Clock, type FetchOptions, type FetchResult, SvcError } from "@svc/contract";
import { multipart, parseJson, retryAfterMs } from "@svc/kit";
import type { TranscriptionSettings } from "../types.ts";

export interface Recording {
  readonly name: string;
  /** `type/subtype`. */
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export interface TranscribeParts {
  readonly fetch: (url: string, options?: FetchOptions) => Promise<FetchResult>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const TRIES = 3;
const FIRST_REST_MS = 1_000;
/** Who asks for more is not waited for: somebody waits for an answer. */
const LONGEST_REST_MS = 15_000;
const LIMIT_MS = 120_000;
/** Hours of talk. */
const MAX_ANSWER_BYTES = 4 * 1_048_576;

/** Blank when nothing is said in it. Throws TRANSCRIPTION_FAILED; an abort with the signal's reason. */
export async function transcribe(
  parts: TranscribeParts,
  settings: TranscriptionSettings,
  recording: Recording,
): Promise<string> {
  const { clock, signal } = parts;
  if (recording.bytes.byteLength > settings.maxBytes) throw tooLarge();
  for (let tries = 1; ; tries += 1) {
    const answer = await ask(parts, settings, recording);
    if (!(answer instanceof Trouble)) return answer;
    if (!answer.mayPass || tries === TRIES) throw answer.error;
    const restMs = answer.error.retryAfterMs ?? FIRST_REST_MS * 2 ** (tries - 1);
    await clock.sleep(Math.min(LONGEST_REST_MS, restMs), signal);
  }
}

export const tooLarge = (): SvcError =>
  new SvcError("TRANSCRIPTION_FAILED", "The recording is larger than transcription.max_bytes.");

class Trouble {
  readonly error: SvcError;
  readonly mayPass: boolean;

  constructor(error: SvcError, mayPass: boolean) {
    this.error = error;
    this.mayPass = mayPass;
  }
}

async function ask(
  { fetch, clock, signal }: TranscribeParts,
  { baseUrl, apiKey, model, language }: TranscriptionSettings,
  { name, mimeType, bytes }: Recording,
): Promise<string | Trouble> {
  const fields = { model, response_format: "json", ...(language !== undefined && { language }) };
  const { body, contentType } = await multipart(fields, [{ field: "file", name, mimeType, bytes }]);
  let answer: FetchResult;
  try {
    answer = await fetch(`${baseUrl}/audio/transcriptions`, {
      method: "POST",
      headers: { "content-type": contentType, ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body,
      maxBytes: MAX_ANSWER_BYTES,
      // The key must not go where a redirect leads.
      redirects: "same-host",
      timeoutMs: LIMIT_MS,
      signal,
    });
  } catch (cause) {
    signal.throwIfAborted();
    return unreachable(cause);
  }
  if (answer.status !== 200) return refusal(answer, clock.now());
  const text = answer.truncated ? undefined : textOf(answer.bytes);
  return text ?? new Trouble(new SvcError("TRANSCRIPTION_FAILED", "The service's answer can't be understood."), false);
}

function unreachable(cause: unknown): Trouble {
  const code = cause instanceof SvcError ? cause.code : "INTERNAL";
  const message =
    code === "ADDRESS_REFUSED"
      ? "The address of the service that transcribes is refused."
      : "The service that transcribes could not be reached.";
  const hint = "Check transcription.base_url.";
  return new Trouble(new SvcError("TRANSCRIPTION_FAILED", message, { cause, hint }), code.startsWith("REMOTE_"));
}

/** Its own words are not repeated: they may quote the key. */
function refusal({ status, headers }: FetchResult, nowMs: number): Trouble {
  const waitMs = retryAfterMs(headers["retry-after"], nowMs);
  const error = new SvcError("TRANSCRIPTION_FAILED", `The service that transcribes answered with status ${status}.`, {
    hint: status === 401 || status === 403 ? "Check transcription.api_key." : "Check [transcription] in config.toml.",
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  });
  return new Trouble(error, status === 408 || status === 429 || status >= 500);
}

function textOf(bytes: Uint8Array): string | undefined {
  const answer = parseJson(bytes);
  const text =
    typeof answer === "object" && answer !== null && !Array.isArray(answer)
      ? (answer as { text?: unknown }).text
      : undefined;
  return typeof text === "string" ? text.trim() : undefined;
}
