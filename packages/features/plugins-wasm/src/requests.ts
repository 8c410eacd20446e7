/** Requests of a plugin: made by the guarded client, to approved hosts only, at every redirect anew. */
import { type FetchOptions, type FetchResult, SvcError, type ToolContext } from "@svc/contract";
import { type CallServices, type PluginAnswer, printable } from "./plugin-process.ts";
import { MAX_HTTP_BODY_BYTES, MAX_LOG_LINE_BYTES, MAX_LOG_LINES } from "./frames.ts";
import type { InstalledPlugin } from "./installed.ts";

type Requests = CallServices["request"];

/** For one call. The plugin gets the messages of thrown errors: our own text, without received data. */
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
  const headers = toGet ? headersWithoutBody(hop.headers) : hop.headers;
  return {
    url,
    method: toGet ? "GET" : hop.method,
    headers: url.origin === hop.url.origin ? headers : headersForOtherOrigin(headers),
    body: toGet ? new Uint8Array() : hop.body,
  };
}

/** Half an answer would be taken for a whole one. */
function answerOf({ status, headers, bytes, truncated }: FetchResult): PluginAnswer {
  if (truncated) throw new SvcError("TOO_LARGE", `its request's answer is larger than ${MAX_HTTP_BODY_BYTES} bytes.`);
  return { status, headers, body: bytes };
}

const codeOf = (error: unknown): string => (error instanceof SvcError ? error.code : "REMOTE_UNREACHABLE");

// Whether a URL is one of those that the person who installed the plugin has approved.

/** `allowedHosts`: as in `InstalledPlugin`. Throws ADDRESS_REFUSED; the plugin gets its message. */
function approvedUrl(text: string, allowedHosts: readonly string[], base?: string): URL {
  const url = URL.parse(text, base);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw refused("it asked for something that is no http or https URL.");
  }
  if (url.username !== "" || url.password !== "")
    throw refused("it asked for a URL with a user name or password in it.");
  // Without the scheme's own port, as the list has it; a name's capital letters and escapes are gone.
  if (!allowedHosts.includes(url.host))
    throw refused("it asked for a host that was not approved when it was installed.");
  url.hash = "";
  return url;
}

const refused = (message: string): SvcError => new SvcError("ADDRESS_REFUSED", message);

/** Headers of a plugin's request. */
type Headers = Readonly<Record<string, string>>;

/**
 * Throws BAD_REQUEST for too many, and for those by which a request says that it came another way than it did; those of the
 * connection are refused by the guarded client. How the answer is coded is not the plugin's to choose.
 */
function requestHeaders(headers: Headers): Headers {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (lower.length > MOST_HEADERS) throw bad("its request has too many headers.");
  if (lower.some(([name]) => /^(?:host|forwarded|via|x-forwarded-.*|x-real-ip|traceparent|tracestate)$/.test(name))) {
    throw bad("its request has a header that plugins can't set.");
  }
  return Object.fromEntries(lower.filter(([name]) => name !== "accept-encoding"));
}

/** Headers that may follow a redirect to another origin: none that could be a credential. */
const headersForOtherOrigin = (headers: Headers): Headers => only(headers, (name) => HARMLESS.has(name));

/** What describes a body is wrong where it is missing. */
const headersWithoutBody = (headers: Headers): Headers => only(headers, (name) => !name.startsWith("content-"));

const only = (headers: Headers, isKept: (name: string) => boolean): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)));

const MOST_HEADERS = 32;

const HARMLESS = new Set(["accept", "accept-language", "content-language", "content-type", "user-agent"]);

const bad = (message: string): SvcError => new SvcError("BAD_REQUEST", message);

/** What a plugin gets of the service in one call. */
export function callServices(plugin: InstalledPlugin, context: Pick<ToolContext, "fetch" | "log">): CallServices {
  let lines = 0;
  return {
    request: pluginRequests(plugin, context),
    log(line) {
      lines += 1;
      if (lines > MAX_LOG_LINES) return;
      context.log.debug("a plugin says", {
        plugin: plugin.name,
        line: printable(line.subarray(0, MAX_LOG_LINE_BYTES)),
      });
    },
  };
}
