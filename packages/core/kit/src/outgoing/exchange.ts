/** One guarded request and its response. Loaded at the first fetch. */
import { Agent, type Dispatcher, buildConnector, request } from "undici";
import { type Clock, type FetchOptions, type FetchResult, type Logger, SvcError } from "@svc/contract";
import {
  FETCH_LIMITS,
  type GuardedFetch,
  type GuardedFetchOptions,
  type IsExempt,
  type Lookup,
} from "./guarded-fetch.ts";
import { addressesOf, parseTarget, refused } from "./target.ts";
import { isIP } from "node:net";
import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { runtimeTimers, withDeadline } from "../async/timeout.ts";

export function createExchange(options: GuardedFetchOptions, isExempt: IsExempt): GuardedFetch {
  // An explicit agent: the process-wide one, and proxy variables in the environment, have no say.
  const agent = new Agent({
    connect: guardedConnector(isExempt, options.lookup, options.log),
    allowH2: false,
    headersTimeout: 0, // the whole request has one time limit, kept by withTimeLimit
    bodyTimeout: 0,
  });
  return (url, fetchOptions = {}) => {
    const request = { ...fetchOptions, traceparent: options.traceparent?.() };
    return withTimeLimit(request.timeoutMs ?? FETCH_LIMITS.timeoutMs, request.signal, options.clock, (signal) =>
      follow(agent, url, request, signal),
    );
  };
}

interface Request extends FetchOptions {
  /** The parent span. */
  readonly traceparent: string | undefined;
}

interface Hop {
  readonly url: URL;
  readonly method: NonNullable<FetchOptions["method"]>;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | undefined;
}

async function follow(agent: Agent, text: string, options: Request, signal: AbortSignal): Promise<FetchResult> {
  const method = options.method ?? (options.body === undefined ? "GET" : "POST");
  if (options.body !== undefined && (method === "GET" || method === "HEAD")) {
    throw new SvcError("BAD_REQUEST", "A GET or HEAD request has no body.");
  }
  const own = requestHeaders(options.headers, options.traceparent);
  let hop: Hop = { url: parseTarget(text), method, headers: own, body: options.body };
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(agent, hop, signal);
    const headers = responseHeaders(response.headers);
    const isFollowed = options.redirects !== "none";
    const next = isFollowed ? redirected(hop, response.statusCode, headers["location"]) : undefined;
    if (next === undefined) {
      const status = response.statusCode;
      options.begun?.({ status, headers });
      const coding = hop.method === "HEAD" ? undefined : headers["content-encoding"];
      return { status, url: hop.url.href, ...(await takeAnswer(response.body, headers, coding, options, signal)) };
    }
    response.body.on("error", () => undefined).destroy();
    if (options.redirects === "same-host" && next.url.origin !== hop.url.origin) throw otherHost();
    if (redirects === FETCH_LIMITS.redirects) {
      throw new SvcError(
        "REMOTE_UNREACHABLE",
        `The remote server redirected more than ${FETCH_LIMITS.redirects} times.`,
      );
    }
    hop = next;
  }
}

function send(agent: Agent, hop: Hop, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  return request(hop.url, {
    dispatcher: agent,
    method: hop.method,
    headers: hop.headers,
    body: hop.body ?? null,
    signal,
  });
}

/** The request a redirect asks for (RFC 9110, 15.4), or undefined when the response is final. */
function redirected(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  const url = parseTarget(location, hop.url);
  const toGet = (status === 303 && hop.method !== "HEAD") || (status <= 302 && hop.method === "POST");
  const headers = toGet ? headersWithoutBody(hop.headers) : hop.headers;
  return {
    url,
    method: toGet ? "GET" : hop.method,
    headers: url.origin === hop.url.origin ? headers : headersForOtherOrigin(headers),
    body: toGet ? undefined : hop.body,
  };
}

const otherHost = (): SvcError =>
  refused("The server redirects to another host, port or scheme, which this request may not follow.");

/**
 * The check sits where sockets are made, so that no connection can miss it: the name is resolved once, every answer is
 * checked, and the socket goes to the very address that passed (a second resolution could answer differently: DNS
 * rebinding). A reused connection was checked when it was opened.
 */
function guardedConnector(isExempt: IsExempt, lookup: Lookup | undefined, log: Logger): buildConnector.connector {
  const connect = buildConnector({ allowH2: false, timeout: CONNECT_TIMEOUT_MS });
  return (options, callback) => {
    const hostname = options.hostname.replace(/^\[(.*)\]$/, "$1");
    const exempt = isExempt(options.protocol, hostname, options.port);
    addressesOf(hostname, exempt, lookup).then(
      (addresses) => attempt(addresses, 0),
      (error: Error) => {
        log.debug("outgoing connection refused", { exempt });
        callback(error, null);
      },
    );

    function attempt(addresses: readonly string[], index: number): void {
      const last = index === addresses.length - 1;
      const target = { ...options, hostname: addresses[index] as string, ...serverName(hostname) };
      connect(target, (...outcome) => {
        if (outcome[0] && !last) attempt(addresses, index + 1);
        else callback(...outcome);
      });
    }
  };
}

/** For one address of several; the request's own time limit covers them all. */
const CONNECT_TIMEOUT_MS = 5000;

/** TLS checks the certificate against the name in the URL, never against the address. */
function serverName(hostname: string): { servername?: string } {
  return isIP(hostname) === 0 ? { servername: hostname } : {};
}

/** The caller's headers, checked, with lower-case names, plus our defaults. Throws BAD_REQUEST. */
export function requestHeaders(
  headers: Readonly<Record<string, string>> | undefined,
  traceparent?: string,
): Record<string, string> {
  const checked: Record<string, string> = {
    "accept-encoding": "gzip, br",
    "user-agent": "svc",
    ...(traceparent !== undefined && { traceparent }),
  };
  for (const [name, value] of Object.entries(headers ?? {})) {
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower)) throw bad("A header name is malformed.");
    if (!/^[\t\u0020-\u007E\u0080-\u00FF]*$/.test(value)) throw bad("A header value contains control characters.");
    if (OWN.has(lower) || lower.startsWith("proxy-")) {
      throw bad("Host, length, connection and proxy headers are set by the client and can't be given.");
    }
    checked[lower] = value;
  }
  return checked;
}

/**
 * What goes on to another origin. Not only Authorization and Cookie are left behind: an API key travels in headers of
 * any name, so only headers that carry no credential by convention are kept.
 */
export function headersForOtherOrigin(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)));
}

/** After a redirect that turns the request into a GET there is no body to describe. */
function headersWithoutBody(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("content-")));
}

/** Lower-case names; repeated headers are joined as HTTP says. */
function responseHeaders(raw: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

/** A caller's Host would reach another virtual host than the one checked; a length or framing header smuggles requests. */
const OWN = new Set([
  "host",
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const HARMLESS = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-language",
  "content-type",
  "if-modified-since",
  "if-none-match",
  "range",
  "user-agent",
]);

const bad = (message: string): SvcError => new SvcError("BAD_REQUEST", message);

type Answer = Pick<FetchResult, "headers" | "bytes" | "truncated">;

/** Reads the answer, or hands it to the caller piece by piece. */
async function takeAnswer(
  body: Readable,
  headers: Readonly<Record<string, string>>,
  coding: string | undefined,
  { write, maxBytes = FETCH_LIMITS.maxBytes }: FetchOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  const take = write === undefined ? (chunk: Uint8Array) => void chunks.push(chunk) : abortable(write, signal);
  const { truncated, decoded } = await readCapped(body, coding, maxBytes, take);
  return { headers: decoded ? withoutCoding(headers) : headers, bytes: Buffer.concat(chunks), truncated };
}

/** They describe the compressed form, which the caller never sees. */
function withoutCoding(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { "content-encoding": _coding, "content-length": _length, ...rest } = headers;
  return rest;
}

/** A caller that takes for ever is under the time limit like the server: it is not waited for. */
function abortable(
  write: NonNullable<FetchOptions["write"]>,
  signal: AbortSignal,
): (chunk: Uint8Array) => Promise<void> {
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
  return async (chunk) => {
    signal.throwIfAborted();
    await Promise.race([asCallers(() => write(chunk)), aborted.promise]);
  };
}

async function asCallers(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new CallersError(error);
  }
}

interface CappedBody {
  readonly truncated: boolean;
  /** The content coding was undone. */
  readonly decoded: boolean;
}

/**
 * Hands over `maxBytes`, counted after decompression, and then hangs up: neither an endless body nor a compression bomb
 * takes more memory than the cap, nor more time than it takes to fill it. The next piece is read when `write` is done
 * with the one before.
 */
async function readCapped(
  body: Readable,
  coding: string | undefined,
  maxBytes: number,
  write: (chunk: Uint8Array) => Promise<void> | void,
): Promise<CappedBody> {
  // Hanging up makes the stream fail; without a listener that failure would end the process.
  body.on("error", () => undefined);
  const decoder = decoderFor(coding);
  let total = 0;
  try {
    for await (const chunk of decoder ? decodedChunks(body, decoder, maxBytes + CODING_OVERHEAD_BYTES) : body) {
      const bytes = chunk as Uint8Array;
      if (total < maxBytes) await write(bytes.subarray(0, maxBytes - total));
      total += bytes.byteLength;
      if (total > maxBytes) break;
    }
  } finally {
    decoder?.destroy();
    body.destroy();
  }
  return { truncated: total > maxBytes, decoded: decoder !== undefined };
}

/** Headers and empty blocks of a compressed stream decode to nothing and could go on for ever. */
const CODING_OVERHEAD_BYTES = 65_536;

function decoderFor(coding: string | undefined): Transform | undefined {
  switch (coding?.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined; // identity, or a coding that was not requested: pass the bytes and the header through
  }
}

async function* decodedChunks(body: Readable, decoder: Transform, maxRawBytes: number): AsyncIterable<Uint8Array> {
  let raw = 0;
  body.on("data", (chunk: Uint8Array) => {
    raw += chunk.byteLength;
    if (raw > maxRawBytes) decoder.destroy(undecodable());
  });
  // A connection that breaks half-way: the decoder must not wait for the rest.
  body.on("error", (error) => decoder.destroy(error));
  body.pipe(decoder);
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw isZlibError(error) ? undecodable(error) : error;
  }
}

const isZlibError = (error: unknown): boolean => String((error as { code?: unknown } | null)?.code).startsWith("Z_");

const undecodable = (cause?: unknown): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "The remote server sent a compressed body that can't be decoded.", { cause });

/**
 * Runs `work` under one limit for everything it does: resolving, connecting, every redirect and the body. Errors of the
 * network layers become an `SvcError`; the reason of the caller's abort and the caller's own errors pass unchanged.
 */
async function withTimeLimit<T>(
  timeoutMs: number,
  callers: AbortSignal | undefined,
  clock: Pick<Clock, "after"> = runtimeTimers,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = { clock, timeoutMs, signal: callers, error: tooLate };
  // The caller's own error is a result here: the time that was up meanwhile does not hide it.
  const callersError = (error: unknown): CallersError => {
    if (error instanceof CallersError) return error;
    throw error;
  };
  try {
    const outcome = await withDeadline(limit, (signal) => work(signal).catch(callersError));
    if (outcome instanceof CallersError) throw outcome;
    return outcome;
  } catch (error) {
    callers?.throwIfAborted();
    if (error instanceof CallersError) throw error.error;
    throw error instanceof SvcError ? error : unreachable(error);
  }
}

const tooLate = (): SvcError =>
  new SvcError("REMOTE_TIMEOUT", "The remote server did not answer within the time limit.");

/** What the caller's own code threw in the middle of a request: a full disk is not the remote server's doing. */
class CallersError {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/** What a network layer threw, in words that tell a certificate from a network. */
export function unreachable(cause: unknown): SvcError {
  if (!CERTIFICATE.has(codeOf(cause) ?? "")) return new SvcError("REMOTE_UNREACHABLE", undefined, { cause });
  return new SvcError("REMOTE_UNREACHABLE", "The remote server's certificate is not trusted here.", {
    cause,
    hint: "It is self-signed, out of date, or for another name. NODE_EXTRA_CA_CERTS names a file with further authorities.",
  });
}

const codeOf = (error: unknown): string | undefined => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === "string") return code;
  return cause === undefined ? undefined : codeOf(cause);
};

/** Of Node: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const CERTIFICATE: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);
