/** What the gateway answers: a status, headers in writing order and a whole body, ready to be sent many times. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type ErrorCode, ERRORS, type Json, SvcError } from "@svc/contract";

export class Reply {
  readonly status: number;
  /** Names and values in turn, as `ServerResponse.writeHead` takes them fastest. */
  readonly headers: readonly string[];
  readonly body: string | Uint8Array;
  /** Of the body. One that has no other characters is written in half the time as Latin-1. */
  readonly encoding: "latin1" | "utf8";

  constructor(
    status: number,
    contentType: string,
    body: string | Uint8Array,
    extraHeaders: readonly string[] = [],
    // A body is one caller's alone: no cache is to keep it.
    cacheControl = "no-store",
  ) {
    this.status = status;
    this.body = body;
    const length = Buffer.byteLength(body);
    this.encoding = length === body.length ? "latin1" : "utf8";
    // These have no body; RFC 9110 section 8.6 forbids a 204 to say how long that is.
    const described = NO_BODY.has(status) ? [] : ["content-type", contentType, "content-length", String(length)];
    this.headers = [
      ...described,
      // Never to be taken for anything else.
      "x-content-type-options",
      "nosniff",
      "cache-control",
      cacheControl,
      ...extraHeaders,
    ];
  }
}

const NO_BODY: ReadonlySet<number> = new Set([204, 304]);

const JSON_TYPE = "application/json; charset=utf-8";

export const jsonReply = (status: number, body: Json | object, extraHeaders: readonly string[] = []): Reply =>
  new Reply(status, JSON_TYPE, JSON.stringify(body), extraHeaders);

/** 204: the methods of a path, for OPTIONS. No CORS header is ever sent: no other site may read us. */
export const optionsReply = (allow: string): Reply => new Reply(204, "text/plain", "", ["allow", allow]);

export const allowHeader = (methods: readonly string[]): string => methods.toSorted().join(", ");

export const notAllowed = (allow: string): Reply => errorReply("METHOD_NOT_ALLOWED", { headers: ["allow", allow] });

export interface ErrorReplyOptions {
  /** Instead of the code's own sentence. Never a received value. */
  readonly message?: string;
  readonly retryAfterMs?: number | undefined;
  readonly headers?: readonly string[];
  /** More of the body, beside `error` and `code`. */
  readonly fields?: { readonly [name: string]: Json };
}

/** `{"error","code"}` with the code's status; with a wait also `retry_after` and `Retry-After`, in whole seconds. */
export function errorReply(code: ErrorCode, options: ErrorReplyOptions = {}): Reply {
  const { message, headers, fields, retryAfterMs } = options;
  const seconds = retryAfterMs === undefined ? 0 : Math.max(1, Math.ceil(retryAfterMs / 1000));
  const plain = message === undefined && headers === undefined && fields === undefined && seconds === 0;
  return plain ? PLAIN_REPLIES[code] : build(code, seconds, options);
}

function build(code: ErrorCode, seconds: number, { message, fields, headers: extra = [] }: ErrorReplyOptions): Reply {
  const { status, sentence } = ERRORS[code];
  const headers = [...extra];
  if (status === 401) headers.push("www-authenticate", "Bearer");
  if (seconds > 0) headers.push("retry-after", String(seconds));
  const body = { error: message ?? sentence, code, ...fields, ...(seconds > 0 && { retry_after: seconds }) };
  return new Reply(status, JSON_TYPE, JSON.stringify(body), headers);
}

/** Replies without anything of their own, made once: most of what a hostile client sees. */
const PLAIN_REPLIES = Object.freeze(
  Object.fromEntries((Object.keys(ERRORS) as ErrorCode[]).map((code) => [code, build(code, 0, {})])),
) as Readonly<Record<ErrorCode, Reply>>;

/** The reply to a thrown value. Only the message of a `SvcError` is sent; anything else could leak internals. */
export function replyToError(error: unknown, fields?: ErrorReplyOptions["fields"]): Reply {
  if (!(error instanceof SvcError)) return errorReply("INTERNAL", { ...(fields && { fields }) });
  const { message, retryAfterMs } = error;
  return errorReply(error.code, { message, retryAfterMs, ...(fields && { fields }) });
}

// What tells a client that the copy it has is the one it would be sent.

/** Without the quotes. */
export const contentTag = (bytes: string | Uint8Array): string => hash("sha256", bytes, "base64url").slice(0, 22);

/** Whether `If-None-Match` names the copy. Weak comparison, as RFC 9110 section 13.1.2 wants it. */
export function isKnown({ "if-none-match": known }: IncomingHttpHeaders, etag: string): boolean {
  if (known === undefined) return false;
  const strong = withoutWeakness(etag);
  return known.trim() === "*" || known.split(",").some((one) => withoutWeakness(one.trim()) === strong);
}

const withoutWeakness = (etag: string): string => etag.replace(/^W\//, "");

/** Whether `Accept-Encoding` lets a body be sent as gzip (RFC 9110 section 12.5.3). */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  let others = false;
  for (const part of String(header ?? "").split(",")) {
    const [coding = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const isWanted = !parameters.some((text) => /^q=0(?:\.0{0,3})?$/.test(text));
    if (coding === "gzip" || coding === "x-gzip") return isWanted;
    if (coding === "*") others = isWanted;
  }
  return others;
}
