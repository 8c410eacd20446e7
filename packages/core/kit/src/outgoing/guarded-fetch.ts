/**
 * The one outgoing HTTP client. Every connection is made to an address that was checked a moment before: private,
 * loopback, link-local, metadata and other special addresses are refused, at the first URL and at every redirect.
 */
import type { Clock, FetchOptions, FetchResult, Logger } from "@svc/contract";
import { exemptions } from "./exemptions.ts";

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
