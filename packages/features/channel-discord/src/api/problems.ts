/** What an answer of the platform means for us: whether the message, the token or only the moment is wrong. */
import { SvcError } from "@svc/contract";
import { type PlatformAnswer, retryAfterMs } from "@svc/kit";
import { ERROR_CODES, type PlatformError } from "./error-codes.ts";
import { fieldsOf, numberOf } from "./fields.ts";

export interface Problem {
  /** Has none of the platform's words, which may quote the message. */
  readonly error: SvcError;
  /** The platform's number of it. */
  readonly code: number | undefined;
}

/** Undefined: it is no error. */
export function problemOf(answer: PlatformAnswer, nowMs: number): Problem | undefined {
  const { status } = answer;
  if (status <= 399) return undefined;
  const code = errorNumber(fieldsOf(answer.json)["code"]);
  // A limit has the number of what was limited, now and then.
  const known = status === 401 || status === 429 || code === undefined ? undefined : ERROR_CODES.get(code);
  const means = known?.means ?? meaningOf(status);
  const waitMs = waitMsOf(answer, nowMs);
  const sentence = known?.sentence ?? `The platform answered with status ${status}`;
  const hint = known?.hint ?? (means === "CHANNEL_UNAUTHORIZED" ? TOKEN_HINT : undefined);
  const error = new SvcError(means, `${sentence}${code === undefined ? "" : ` (error ${code})`}.`, {
    ...(hint !== undefined && { hint }),
    ...(waitMs !== undefined && means !== "DELIVERY_REFUSED" && { retryAfterMs: waitMs }),
  });
  return { error, code };
}

/** Milliseconds until the same may be asked again: the body says it more exactly than the header. */
export function waitMsOf(
  { headers, json }: Pick<PlatformAnswer, "headers" | "json">,
  nowMs: number,
): number | undefined {
  const seconds = numberOf(fieldsOf(json)["retry_after"]);
  if (seconds !== undefined && seconds >= 0 && seconds < LONGEST_SECONDS) return Math.ceil(seconds * 1000);
  return retryAfterMs(headers["retry-after"], nowMs);
}

const LONGEST_SECONDS = 1e6;

const TOKEN_HINT =
  "Set bot_token to the token of the bot: in the developer portal under Bot, Reset Token. It is no client secret.";

/** 0 is what an error without a number of its own has. */
function errorNumber(code: unknown): number | undefined {
  const number = numberOf(code);
  return number !== undefined && Number.isInteger(number) && number > 0 && number <= 999_999_999 ? number : undefined;
}

function meaningOf(status: number): PlatformError["means"] {
  if (status === 401) return "CHANNEL_UNAUTHORIZED";
  // 403 is a permission that is missing in one place; the token is a good one.
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return isFinal ? "DELIVERY_REFUSED" : "DELIVERY_FAILED";
}
