/** Loaded at the first fetch. */
import { Agent, request, type Dispatcher } from "undici";
import { type FetchOptions, type FetchResult, SvcError } from "@svc/contract";
import { takeAnswer } from "./answer.ts";
import { guardedConnector } from "./connect.ts";
import type { IsExempt } from "./exemptions.ts";
import { FETCH_LIMITS, type GuardedFetch, type GuardedFetchOptions } from "./guarded-fetch.ts";
import { headersForOtherOrigin, headersWithoutBody, requestHeaders, responseHeaders } from "./headers.ts";
import { parseTarget, refused } from "./target.ts";
import { withTimeLimit } from "./time-limit.ts";

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
  const kept = toGet ? headersWithoutBody(hop.headers) : hop.headers;
  return {
    url,
    method: toGet ? "GET" : hop.method,
    headers: url.origin === hop.url.origin ? kept : headersForOtherOrigin(kept),
    body: toGet ? undefined : hop.body,
  };
}

const otherHost = (): SvcError =>
  refused("The server redirects to another host, port or scheme, which this request may not follow.");
