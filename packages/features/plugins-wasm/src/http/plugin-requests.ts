/** Requests of a plugin: made by the guarded client, to approved hosts only, at every redirect anew. */
import { type FetchOptions, type FetchResult, SvcError, type ToolContext } from "@svc/contract";
import { MAX_HTTP_BODY_BYTES } from "../host/frames.ts";
import type { CallServices, PluginAnswer } from "../host/plugin-process.ts";
import type { InstalledPlugin } from "../manifest/types.ts";
import { approvedUrl } from "./approved-url.ts";
import { headersForOtherOrigin, headersWithoutBody, requestHeaders } from "./request-headers.ts";

type Requests = CallServices["request"];

/** For one call. What it throws is told to the plugin: our sentences, nothing of what was received. */
export function pluginRequests(plugin: InstalledPlugin, { fetch, log }: Pick<ToolContext, "fetch" | "log">): Requests {
  let count = 0;
  return async (request, body, signal) => {
    count += 1;
    if (count > MOST_REQUESTS) throw new SvcError("RATE_LIMITED", `it made more than ${MOST_REQUESTS} requests.`);
    const method = methodOf(request.method);
    const url = approvedUrl(request.url, plugin.allowedHosts);
    const about = { plugin: plugin.name, request: count, method, host: url.host };
    try {
      const hop = { url, method, headers: requestHeaders(request.headers), body };
      const result = await follow(plugin, fetch, hop, signal);
      log.info("a plugin made a request", { ...about, status: result.status, bytes: result.bytes.byteLength });
      return answerOf(result);
    } catch (error) {
      log.info("a request of a plugin came to nothing", { ...about, code: codeOf(error) });
      throw error;
    }
  };
}

/** In one call. */
const MOST_REQUESTS = 20;

const MOST_REDIRECTS = 5;

interface Hop {
  readonly url: URL;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type Method = NonNullable<FetchOptions["method"]>;

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] satisfies Method[];

function methodOf(method: string): Method {
  if (METHODS.includes(method)) return method as Method;
  throw new SvcError("BAD_REQUEST", "its request has a method that plugins can't use.");
}

async function follow(
  { allowedHosts }: InstalledPlugin,
  fetch: ToolContext["fetch"],
  first: Hop,
  signal: AbortSignal,
): Promise<FetchResult> {
  let hop = first;
  for (let redirects = 0; ; redirects += 1) {
    const { url, method, headers, body } = hop;
    const result = await fetch(url.href, {
      method,
      headers,
      ...(body.byteLength > 0 && { body }),
      redirects: "none",
      maxBytes: MAX_HTTP_BODY_BYTES,
      signal,
    });
    const to = result.headers["location"];
    if (to === undefined || !REDIRECTS.has(result.status)) return result;
    if (redirects === MOST_REDIRECTS) throw new SvcError("REMOTE_UNREACHABLE", "its request was redirected too often.");
    hop = redirected(hop, result.status, approvedUrl(to, allowedHosts, url.href));
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** RFC 9110, 15.4. */
function redirected(hop: Hop, status: number, url: URL): Hop {
  const toGet = (status === 303 && hop.method !== "HEAD") || (status <= 302 && hop.method === "POST");
  const kept = toGet ? headersWithoutBody(hop.headers) : hop.headers;
  return {
    url,
    method: toGet ? "GET" : hop.method,
    headers: url.origin === hop.url.origin ? kept : headersForOtherOrigin(kept),
    body: toGet ? new Uint8Array() : hop.body,
  };
}

/** Half an answer would be taken for a whole one. */
function answerOf({ status, headers, bytes, truncated }: FetchResult): PluginAnswer {
  if (truncated) throw new SvcError("TOO_LARGE", `its request's answer is larger than ${MAX_HTTP_BODY_BYTES} bytes.`);
  return { status, headers, body: bytes };
}

const codeOf = (error: unknown): string => (error instanceof SvcError ? error.code : "REMOTE_UNREACHABLE");
