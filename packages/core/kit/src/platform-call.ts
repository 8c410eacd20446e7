/** One request to a platform's API: returns the answer, or throws an error that says whether to retry. And the parts of such requests. */
import {
  type ErrorCode,
  type FeatureContext,
  type FetchOptions,
  type FetchResult,
  type Json,
  SvcError,
} from "@svc/contract";
import { parseJson } from "./json.ts";

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

/** Milliseconds that a `Retry-After` header asks for (RFC 9110, 10.2.3: whole seconds, or a date). */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const atMs = Date.parse(header);
  // "-1" and "1.5" are dates to the parser, of 2001: only what names a day is one.
  if (!/[a-z]/i.test(header) || Number.isNaN(atMs)) return undefined;
  return Math.max(0, atMs - nowMs);
}

/**
 * An untrusted id as one segment of an API path. Throws `code` for "." and "..": no encoding keeps a URL from resolving them,
 * and the request, with its token, would go to another path.
 */
export function pathPart(id: string, code: ErrorCode = "DELIVERY_REFUSED"): string {
  if (/^\.{0,2}$/.test(id)) throw new SvcError(code, "This is no id of the platform.");
  // Of half a character the encoding would throw.
  return encodeURIComponent(id.toWellFormed());
}

/** A form with files in it, as platforms take uploads. The runtime writes it: names are escaped, the boundary is its own. */
export interface FormFile {
  /** Name of the field. */
  readonly field: string;
  readonly name: string;
  /** `type/subtype`. */
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export interface Form {
  readonly body: Uint8Array;
  /** With the boundary. */
  readonly contentType: string;
}

export async function multipart(fields: Readonly<Record<string, string>>, files: readonly FormFile[]): Promise<Form> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const { field, name, mimeType, bytes } of files) {
    form.append(field, new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mimeType }), name);
  }
  const written = new Response(form);
  const contentType = written.headers.get("content-type") as string;
  return { body: await written.bytes(), contentType };
}
