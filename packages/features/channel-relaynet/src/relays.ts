/** The relays of the account: connections that are open, and others for as long as something takes. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit";
import type { Config } from "./config.ts";
import { type Identity, throwawayIdentity } from "./protocol.ts";
import { openRelay, type Relay } from "./relay.ts";

export interface Relays {
  /** URLs of the config. */
  readonly own: readonly string[];
  /** A new connection to one of our own. Rejects as `openRelay`. */
  open(url: string, signal: AbortSignal): Promise<Relay>;
  /** It may be used for other work too, until it is removed. */
  share(relay: Relay): void;
  remove(relay: Relay): void;
  shared(): readonly Relay[];
  /** Uses the shared connection, or a new one that ends with the work. Rejects as `openRelay` and `work`. */
  use<T>(url: string, work: (relay: Relay) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Uses all of these at once; after the first result, waits `patienceMs` for others. Rejects only with the signal's reason. */
  useAll<T>(
    urls: readonly string[],
    work: (relay: Relay) => Promise<T>,
    signal: AbortSignal,
    patienceMs?: number,
  ): Promise<Outcome<T>[]>;
}

export type Outcome<T> = { readonly url: string } & (
  | { readonly isDone: true; readonly value: T }
  | { readonly isDone: false; readonly error: SvcError }
);

/** So long after the first relay has answered the others are waited for, unless the caller says otherwise. */
const PATIENCE_MS = 2_000;

export function relaysOf(
  { config, clock, log, resolve }: Pick<FeatureContext<Config>, "config" | "clock" | "log" | "resolve">,
  identity: Identity,
): Relays {
  const own = config.relays;
  const open = new Map<string, Relay>();
  const deps = { clock, log, resolve };
  const connect = (url: string, signal: AbortSignal): Promise<Relay> =>
    own.includes(url)
      ? openRelay(url, { ...deps, identity: () => identity }, signal)
      : // A gift wrap does not tell who has written it: nor do we, to a relay that is not ours.
        openRelay(url, { ...deps, isForeign: true, identity: throwawayIdentity }, signal);
  const relays: Relays = {
    own,
    open: connect,
    share: (relay) => void open.set(relay.url, relay),
    remove: (relay) => void (open.get(relay.url) === relay && open.delete(relay.url)),
    shared: () => [...open.values()],
    async use(url, work, signal) {
      const existing = open.get(url);
      if (existing !== undefined && !existing.isPaused) return work(existing);
      const relay = await connect(url, signal);
      try {
        return await work(relay);
      } finally {
        relay.close();
      }
    },
    async useAll(urls, work, signal, patienceMs = PATIENCE_MS) {
      signal.throwIfAborted();
      const late = new AbortController();
      const either = AbortSignal.any([signal, late.signal]);
      let cancel: (() => void) | undefined;
      const giveUp = (): void => late.abort(new SvcError("REMOTE_TIMEOUT", "The relay did not answer in time."));
      const outcomes = urls.map(async (url) => {
        try {
          const value = await unlessAborted(relays.use(url, work, either), either);
          cancel ??= clock.after(patienceMs, giveUp);
          return { url, isDone: true as const, value };
        } catch (error) {
          return { url, isDone: false as const, error: asSvcError(error) };
        }
      });
      try {
        return await unlessAborted(Promise.all(outcomes), signal);
      } finally {
        cancel?.();
        late.abort(new SvcError("CANCELLED"));
      }
    },
  };
  return relays;
}

const asSvcError = (error: unknown): SvcError =>
  error instanceof SvcError
    ? error
    : new SvcError("REMOTE_UNREACHABLE", "The relay can't be reached.", { cause: error });

/** The error when all relays failed: one that a retry may overcome counts before a permanent one. */
export function commonFailure(errors: readonly SvcError[]): SvcError {
  const isFinal = ({ code }: SvcError): boolean => code === "CHANNEL_UNAUTHORIZED" || code === "DELIVERY_REFUSED";
  const passing = errors.filter((error) => !isFinal(error));
  const waits = passing.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const why = passing[0] ?? errors.find(({ code }) => code === "DELIVERY_REFUSED") ?? errors[0] ?? noRelay();
  if (errors.length < 2) return why;
  return new SvcError(why.code, `None of ${errors.length} relays works. ${why.message}`, {
    cause: why,
    ...(why.hint !== undefined && { hint: why.hint }),
    ...(waits.length > 0 && waits.length === passing.length && { retryAfterMs: Math.min(...waits) }),
  });
}

const noRelay = (): SvcError => new SvcError("REMOTE_UNREACHABLE", "No relay can be reached.");
