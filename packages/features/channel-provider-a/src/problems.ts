/**
 * What an error of the platform means for us: whether the message, the credentials or only the moment is wrong.
 *
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 * https://developers.facebook.com/docs/graph-api/guides/error-handling
 */
import { type Json, SvcError } from "@svc/contract";
import { type PlatformAnswer, retryAfterMs } from "@svc/kit";
import { fieldsOf, listOf, numberOf } from "./fields.ts";
import { ERROR_CODES, type PlatformError } from "./error-codes.ts";

/** Undefined: it is no error. None of the platform's words come through: they may quote the token or the message. */
export function problemOf(answer: PlatformAnswer, nowMs: number): SvcError | undefined {
  const { status, headers, json } = answer;
  const body = fieldsOf(json);
  // An error now and then comes with 200.
  if (status <= 399 && body["error"] === undefined) return undefined;
  const { code, error_subcode: subcode, is_transient: isTransient } = fieldsOf(body["error"]);
  const number = errorNumber(code);
  const known = number === 100 && subcode === 33 ? NO_SUCH_OBJECT : knownError(number);
  const means = known?.means ?? (isTransient === true ? "DELIVERY_FAILED" : meaningOf(status));
  const waitMs =
    retryAfterMs(headers["retry-after"], nowMs) ?? usageWaitMs(headers["x-business-use-case-usage"]) ?? known?.waitMs;
  const hint = known?.hint ?? (means === "CHANNEL_UNAUTHORIZED" ? TOKEN_HINT : undefined);
  return new SvcError(
    means,
    `${known?.sentence ?? `The platform answered with status ${status}`}${numbered(number)}.`,
    {
      ...(hint !== undefined && { hint }),
      ...(waitMs !== undefined && means !== "DELIVERY_REFUSED" && { retryAfterMs: waitMs }),
    },
  );
}

/** Why a message that had been accepted was not delivered, from `errors[]` of its status. */
export function failureOf([error]: readonly Json[]): string {
  const number = errorNumber(fieldsOf(error)["code"]);
  return `${knownError(number)?.sentence ?? "The platform could not deliver it"}${numbered(number)}.`;
}

/** Small enough to be one of the platform's: nothing else of its answer is ever shown. */
function errorNumber(code: Json | undefined): number | undefined {
  const number = numberOf(code);
  return number !== undefined && Number.isInteger(number) && number >= 0 && number <= 999_999_999 ? number : undefined;
}

function knownError(code: number | undefined): PlatformError | undefined {
  if (code === undefined) return undefined;
  // 200 to 299 are all kinds of missing permissions.
  return ERROR_CODES.get(code >= 200 && code <= 299 ? 10 : code);
}

const numbered = (code: number | undefined): string => (code === undefined ? "" : ` (error ${code})`);

const TOKEN_HINT = "Check access_token and phone_number_id, and that the token has the permission to send messages.";

/** The answer for a wrong phone_number_id, and for one that the token may not use. */
const NO_SUCH_OBJECT: PlatformError = {
  means: "CHANNEL_UNAUTHORIZED",
  sentence: "The platform knows no such phone number id, or the access token may not use it",
};

function meaningOf(status: number): PlatformError["means"] {
  if (status === 401 || status === 403) return "CHANNEL_UNAUTHORIZED";
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return isFinal ? "DELIVERY_REFUSED" : "DELIVERY_FAILED";
}

/**
 * Minutes that the platform foresees until an account may call again.
 * https://developers.facebook.com/docs/graph-api/overview/rate-limiting
 */
function usageWaitMs(header: string | undefined): number | undefined {
  if (header === undefined || header.length > 10_000) return undefined;
  try {
    const usages = Object.values(fieldsOf(JSON.parse(header) as Json))
      .flatMap(listOf)
      .map(fieldsOf);
    const minutes = usages.map(({ estimated_time_to_regain_access: wait }) => numberOf(wait) ?? 0);
    const longest = Math.max(0, ...minutes);
    return longest > 0 ? longest * 60_000 : undefined;
  } catch {
    return undefined;
  }
}
