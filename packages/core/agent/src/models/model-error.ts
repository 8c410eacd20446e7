/** What went wrong with the provider, as our errors. Its own words may quote the key, so they stay out of the message. */
import { SvcError } from "@svc/contract";

/** The parts of the AI SDK's APICallError that we read. */
interface ApiCallError {
  readonly statusCode?: number;
  readonly isRetryable?: boolean;
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

/** Whether trying the same call again can help. */
export function isRetryable(error: unknown): boolean {
  return (error as ApiCallError | null)?.isRetryable === true;
}

/** Milliseconds the provider asks us to wait (`retry-after-ms`, else `retry-after` in seconds or as an HTTP date). */
export function retryAfterMs(error: unknown, nowMs: number): number | undefined {
  const headers = (error as ApiCallError | null)?.responseHeaders;
  const millis = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(millis) && millis >= 0) return millis;
  const value = headers?.["retry-after"];
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

export function modelError(cause: unknown): SvcError {
  if (cause instanceof SvcError) return cause;
  const status = (cause as ApiCallError | null)?.statusCode;
  if (status === undefined) {
    return new SvcError("MODEL_UNREACHABLE", undefined, { cause, hint: "Check model.base_url and the network." });
  }
  return new SvcError("MODEL_REFUSED", `The model provider answered ${status}.`, {
    cause,
    hint: HINTS[status] ?? "The log has the details.",
  });
}

const HINTS: Readonly<Record<number, string>> = {
  401: "Check model.api_key.",
  403: "Check that the key may use this model.",
  404: "Check model.name and model.base_url.",
  429: "The provider's limit or the account's credit is used up; try later.",
};
