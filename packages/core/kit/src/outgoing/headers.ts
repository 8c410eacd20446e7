import { SvcError } from "@svc/contract";

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
export function headersWithoutBody(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("content-")));
}

/** Lower-case names; repeated headers are joined as HTTP says. */
export function responseHeaders(raw: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
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
