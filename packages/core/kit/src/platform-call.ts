/** One request to a platform's API. Returns the answer, or throws an error that says whether to retry. */
import { type FeatureContext, type FetchOptions, type FetchResult, type Json, SvcError } from "@svc/contract";
import { parseJson } from "./json.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface PlatformCall {
  readonly url: string;
  /** Default: POST with something to send, else GET. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as application/json. */
  readonly json?: Json;
  /** Sent as it is, with the content type of `headers`. */
  readonly body?: string | Uint8Array;
  /** Statuses beside 200 to 299 that are an answer and no error. */
  readonly answers?: readonly number[];
  /** Default: 1 MiB. */
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  /** Default: `same-host`. */
  readonly redirects?: "same-host" | "none";
  readonly signal: AbortSignal;
  /** For a `Retry-After` that is a date. */
  readonly nowMs: number;
}

export interface PlatformAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: none, no JSON, or more of it than `maxBytes`. */
  readonly json: Json | undefined;
}

/**
 * Throws CHANNEL_UNAUTHORIZED, DELIVERY_REFUSED (the same request would be refused again), DELIVERY_FAILED and REMOTE_*
 * (it may be taken later); none has a word of the platform's in it, which may quote the token or the message.
 */
export async function platformCall(fetch: FeatureContext["fetch"], call: PlatformCall): Promise<PlatformAnswer> {
  call.signal.throwIfAborted();
  const answer = await fetch(call.url, {
    ...content(call),
    ...(call.method && { method: call.method }),
    ...(call.maxBytes !== undefined && { maxBytes: call.maxBytes }),
    ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs }),
    redirects: call.redirects ?? "same-host",
    signal: call.signal,
  });
  // A redirect may turn a POST into a GET, whose 200 is no acceptance of anything.
  if (call.method !== "GET" && answer.url !== new URL(call.url).href) throw redirected();
  const isTaken = (answer.status >= 200 && answer.status <= 299) || call.answers?.includes(answer.status) === true;
  if (!isTaken) throw refusal(answer, call.nowMs);
  const json = answer.truncated ? undefined : parseJson(answer.bytes);
  return { status: answer.status, headers: answer.headers, json };
}

function content({ json, body, headers = {} }: PlatformCall): FetchOptions {
  if (json === undefined) return { headers, ...(body !== undefined && { body }) };
  return { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(json) };
}

function refusal({ status, headers }: FetchResult, nowMs: number): SvcError {
  const code = codeOf(status);
  const waitMs = retryAfterMs(headers["retry-after"], nowMs);
  return new SvcError(code, `The platform answered with status ${status}.`, {
    ...(code === "CHANNEL_UNAUTHORIZED" && {
      hint: "Check the channel's credentials and what they are allowed to do.",
    }),
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  });
}

function codeOf(status: number): "CHANNEL_UNAUTHORIZED" | "DELIVERY_REFUSED" | "DELIVERY_FAILED" {
  if (status === 401 || status === 403) return "CHANNEL_UNAUTHORIZED";
  // 408: it did not get all of the request in time. 425: too early.
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return isFinal ? "DELIVERY_REFUSED" : "DELIVERY_FAILED";
}

const redirected = (): SvcError =>
  new SvcError("DELIVERY_FAILED", "The platform redirects to another address.", {
    hint: "Set api_url to the address that it redirects to.",
  });
