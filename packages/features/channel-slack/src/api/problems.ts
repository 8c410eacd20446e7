/** What goes wrong with a method, as an error of ours. No word of the platform's but its name for the error, and only a known one. */
import { type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, textOf } from "../fields.ts";
import { ERROR_WORDS, type PlatformError, SCOPE_NAMES } from "./error-words.ts";

/** Of what the libraries throw. */
export function problemOf(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const { code, original, data, statusCode, retryAfter, headers } = fieldsOf(error as Json) as ClientError;
  if (original instanceof SvcError) return original;
  if (code === "slack_webapi_platform_error") return refusalOf(fieldsOf(data as Json));
  if (code === "slack_webapi_rate_limited_error") return rateLimited(retryAfter);
  if (code === "slack_webapi_http_error" && typeof statusCode === "number") {
    return statusError(statusCode, fieldsOf(headers as Json));
  }
  return new SvcError("DELIVERY_FAILED", "The platform's answer can't be read.");
}

interface ClientError {
  readonly code?: unknown;
  readonly original?: unknown;
  readonly data?: unknown;
  readonly statusCode?: unknown;
  readonly retryAfter?: unknown;
  readonly headers?: unknown;
}

const rateLimited = (seconds: unknown): SvcError => {
  const isTime = typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0;
  return new SvcError("DELIVERY_FAILED", "The platform asks to be asked less often.", {
    ...(isTime && { retryAfterMs: Math.min(seconds, 86_400) * 1000 }),
  });
};

/** `ok: false`, and a word for why. */
function refusalOf({ error, needed, response_metadata: metadata }: Fields): SvcError {
  const word = textOf(error) ?? "";
  const known = ERROR_WORDS.get(word);
  if (known === undefined) {
    return new SvcError("DELIVERY_FAILED", "The platform refused for a reason that is not known here.");
  }
  if (word === "ratelimited" || word === "rate_limited") return rateLimited(fieldsOf(metadata)["retryAfter"]);
  const { means, sentence } = known;
  const hint = word === "missing_scope" ? scopeHint(textOf(needed) ?? "") : known.hint;
  return new SvcError(means, `${sentence} (${word}).`, { ...(hint !== undefined && { hint }) });
}

function scopeHint(needed: string): string {
  const scopes = needed.split(/[,|\s]+/).filter((scope) => SCOPE_NAMES.has(scope));
  const named = scopes.length === 0 ? "the scope" : scopes.join(", ");
  return `Add ${named} under OAuth & Permissions of the app, and install it to the workspace again.`;
}

function statusError(status: number, headers: Fields): SvcError {
  const code = codeOf(status);
  const seconds = Number(textOf(headers["retry-after"]) ?? Number.NaN);
  return new SvcError(code, `The platform answered with status ${status}.`, {
    ...(Number.isFinite(seconds) && code === "DELIVERY_FAILED" && { retryAfterMs: seconds * 1000 }),
    ...(code === "CHANNEL_UNAUTHORIZED" && { hint: "Check bot_token, app_token and api_url." }),
  });
}

function codeOf(status: number): PlatformError["means"] {
  if (status === 401 || status === 403) return "CHANNEL_UNAUTHORIZED";
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return isFinal ? "DELIVERY_REFUSED" : "DELIVERY_FAILED";
}
