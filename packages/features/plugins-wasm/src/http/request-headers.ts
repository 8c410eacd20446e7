/** Headers of a plugin's request. */
import { SvcError } from "@svc/contract";

type Headers = Readonly<Record<string, string>>;

/**
 * Throws BAD_REQUEST for too many, and for those by which a request says that it came another way than it did; those of the
 * connection are refused by the guarded client. How the answer is coded is not the plugin's to choose.
 */
export function requestHeaders(headers: Headers): Headers {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (lower.length > MOST_HEADERS) throw bad("its request has too many headers.");
  if (lower.some(([name]) => /^(?:host|forwarded|via|x-forwarded-.*|x-real-ip|traceparent|tracestate)$/.test(name))) {
    throw bad("its request has a header that plugins can't set.");
  }
  return Object.fromEntries(lower.filter(([name]) => name !== "accept-encoding"));
}

/** What goes along to another origin: nothing that may be a credential, whatever its name. */
export const headersForOtherOrigin = (headers: Headers): Headers => only(headers, (name) => HARMLESS.has(name));

/** What describes a body is wrong where there is none. */
export const headersWithoutBody = (headers: Headers): Headers => only(headers, (name) => !name.startsWith("content-"));

const only = (headers: Headers, isKept: (name: string) => boolean): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)));

const MOST_HEADERS = 32;

const HARMLESS = new Set(["accept", "accept-language", "content-language", "content-type", "user-agent"]);

const bad = (message: string): SvcError => new SvcError("BAD_REQUEST", message);
