/**
 * The one outgoing HTTP client. Every connection is made to an address that was checked a moment before: private,
 * loopback, link-local, metadata and other special addresses are refused, at the first URL and at every redirect.
 */
import { type Clock, type FetchOptions, type FetchResult, type Logger, SvcError } from "@svc/contract";

export interface GuardedFetchOptions {
  /** `[security.net] allow_private`: `host:port` pairs reachable although their address is private. */
  readonly allowPrivate: readonly string[];
  /** A channel's own `api_url`s: exactly their scheme, host and port are reachable. */
  readonly exempt?: readonly string[];
  /** All addresses of a name. Default: the system's resolver. Called once for each connection. */
  readonly lookup?: Lookup;
  /**
   * The value of the header `traceparent` (https://www.w3.org/TR/trace-context/), read when the request is made. A caller's own
   * header wins, and a redirect to another origin drops it. undefined: no tracing.
   */
  readonly traceparent?: () => string | undefined;
  readonly log: Logger;
  /** Times the requests. Default: the runtime's timers. */
  readonly clock?: Pick<Clock, "after">;
}

/** Addresses of a host name, each as text; rejects if the name has no address. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/**
 * Throws `SvcError`: ADDRESS_REFUSED (also for a URL that may not be fetched at all), BAD_REQUEST (headers),
 * REMOTE_UNREACHABLE, REMOTE_TIMEOUT; rejects with the signal's reason when the caller aborts, and with what `write` threw.
 */
export type GuardedFetch = (url: string, options?: FetchOptions) => Promise<FetchResult>;

/** Defaults of `FetchOptions`, and what no caller can change. */
export const FETCH_LIMITS = { maxBytes: 1_048_576, timeoutMs: 30_000, redirects: 5, urlChars: 8192 } as const;

/** Throws CONFIG_INVALID at once when an entry of `allowPrivate` or `exempt` can't be read. */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const isExempt = exemptions(options.allowPrivate, options.exempt ?? []);
  let exchange: Promise<GuardedFetch> | undefined;
  return async (url, fetchOptions) => {
    // The HTTP client costs tens of milliseconds to load; a daemon that fetches nothing never pays for it.
    exchange ??= import("./exchange.ts").then((module) => module.createExchange(options, isExempt));
    return (await exchange)(url, fetchOptions);
  };
}

/** Whether a connection to this scheme, host and port may go to a private address. */
export type IsExempt = (protocol: string, hostname: string, port: string) => boolean;

/** Host and port must be equal to an entry's: a name that merely resolves to the same address is not exempt. */
export function exemptions(hostPorts: readonly string[], urls: readonly string[]): IsExempt {
  const allowed = new Set(hostPorts.map(hostPortKey));
  const origins = new Set(urls.map(originKey));
  return (protocol, hostname, port) => {
    const key = keyOf(hostname, port || defaultPort(protocol));
    return allowed.has(key) || origins.has(`${protocol}//${key}`);
  };
}

function hostPortKey(entry: string): string {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/@?#[\]\\]+):([0-9]{1,5})$/i.exec(entry.trim());
  const url = match && URL.canParse(`http://${match[0]}`) ? new URL(`http://${match[0]}`) : undefined;
  const port = Number(match?.[2]);
  if (!url || port < 1 || port > 65_535) {
    throw new SvcError("CONFIG_INVALID", "An entry of security.net.allow_private is not a host:port pair.", {
      hint: 'Write each entry as "host:port", for example "127.0.0.1:11434" or "[::1]:8080".',
    });
  }
  return keyOf(url.hostname, String(port));
}

function originKey(text: string): string {
  if (!URL.canParse(text)) throw new SvcError("CONFIG_INVALID", "An api_url is not a URL.");
  const url = new URL(asHttp(text));
  return `${url.protocol}//${keyOf(url.hostname, url.port || defaultPort(url.protocol))}`;
}

/** The URL of another protocol as http or https, with the port that it means. The host stays as it is spelled. */
export function asHttp(text: string): string {
  const [, secure] = /^mqtt(s?):/i.exec(text) ?? [];
  if (secure === undefined || !URL.canParse(text)) return text.replace(/^ws(s?):/i, "http$1:");
  const url = `http${text.slice("mqtt".length)}`;
  return new URL(text).port === "" ? url.replace(/^[a-z]+:\/\/[^/?#]+/i, `$&:${secure ? 8883 : 1883}`) : url;
}

/** Brackets differ between a URL's host and a connector's: neither has them here. */
const keyOf = (hostname: string, port: string): string =>
  `${hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase()} ${port}`;

const defaultPort = (protocol: string): string => (protocol === "https:" ? "443" : "80");
