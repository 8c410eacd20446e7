/**
 * What people write: all relays at once, each message once. A message counts as taken when its row in the inbox is on disk, in one
 * transaction with how far each relay was read. What a kill cuts off is read again, and is known by its id.
 *
 * The times of gift wraps lie back by up to two days, and a relay may hand anything over at any time. So each relay is asked for more
 * than what is new, from two days before it was last read to its end; the id of a message keeps out what was there before, and once the
 * inbox forgets the id, the message's time does (`Inbound.sequence`).
 */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import { asFinal, checkFailureOf, retry, retryDelayMs, unlessAborted } from "@svc/kit";
import { CHANNEL, type Config } from "./config.ts";
import { type Opened, inboundOf, messageReader, openPosition } from "./reader.ts";
import { type Identity, KIND, type NostrEvent } from "./protocol.ts";
import { type Relay, type Relays, commonFailure } from "./relays.ts";

export interface ReceiveDeps {
  readonly context: Pick<FeatureContext<Config>, "config" | "clock" | "log" | "state" | "receive">;
  readonly identity: Identity;
  readonly relays: Relays;
}

const RECONNECT = { firstMs: 1_000, longestMs: 300_000 };
/** A connection that lasted this long was well. */
const STABLE_MS = 60_000;
/** After that the connections close, and the relays send their events again. */
const STORE_BACKOFF = { firstMs: 500, longestMs: 8_000, maxTries: 6 };
/** Events of one relay that wait to be read; beyond it the relay is not listened to. */
const MOST_WAITING = 200;
const MOST_AT_ONCE = 64;
/** A relay that asks for a longer rest is tried all the same. */
const LONGEST_REST_MS = 3_600_000;

/** Resolves when it is aborted. Throws REMOTE_* when no relay is left, FEATURE_FAILED when all refuse the account, BUSY, STORE_*. */
export async function receiveMessages(deps: ReceiveDeps, signal: AbortSignal): Promise<void> {
  const { context, relays, identity } = deps;
  const { clock, log } = context;
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const position = await openPosition(deps);
  const reader = messageReader(deps, position);
  const ready = queue<{ readonly opened: readonly Opened[]; readonly relay: string; readonly arrival: Arrival }>();
  const failures = new Map<string, SvcError>();
  const allDown = Promise.withResolvers<never>();
  allDown.promise.catch(() => undefined);
  let isKnown = false;

  const caughtUp = (relay: string): void => {
    if (failures.delete(relay)) log.info("a relay is connected again", { channel: CHANNEL, relay });
    if (!isKnown) log.info("the platform knows this channel", { account: identity.npub });
    isKnown = true;
  };
  const storing = async (): Promise<never> => {
    for (;;) {
      const taken = await ready.take(MOST_AT_ONCE, either);
      for (const { relay, arrival } of taken) position.advance(relay, arrival.readUntilSecs);
      const opened = taken.flatMap((one) => one.opened);
      if (opened.length > 0 || position.isDue()) {
        await store(
          context,
          opened.map(({ message }) => inboundOf(message)),
          position.stored(),
          either,
        );
      }
      for (const { eventId } of opened) reader.stored(eventId);
      ready.done(taken);
    }
  };
  /** One relay: its connections one after the other, and what comes by them. A relay that floods us delays no other. */
  const relayLoops = (url: string): readonly Promise<never>[] => {
    const arrivals = queue<Arrival>();
    let waiting = 0;
    const isCrowded = (): boolean => waiting > MOST_WAITING;
    const arrived = (arrival: Arrival): void => {
      waiting += arrival.events.length;
      arrivals.push(arrival);
      if (isCrowded()) pauseReading(true);
    };
    const pauseReading = (isPaused: boolean): void => {
      const relay = relays.shared().find((one) => one.url === url);
      if (isPaused) relay?.pause();
      else relay?.resume();
    };
    const reading = async (): Promise<never> => {
      for (;;) {
        const taken = await arrivals.take(1, either);
        for (const arrival of taken) {
          const opened = await reader.read(arrival.events, url, either);
          ready.push({ opened, relay: url, arrival });
          await ready.notCrowded(either);
          waiting -= arrival.events.length;
        }
        if (!isCrowded()) pauseReading(false);
      }
    };
    /** Resolves with why it is over. */
    const oneConnection = async (): Promise<SvcError> => {
      const relay = await relays.open(url, either);
      try {
        relays.share(relay);
        const failure = Promise.withResolvers<never>();
        failure.promise.catch(() => undefined);
        readRelay({ relay, pubkey: identity.pubkey, sinceSecs: position.sinceOf(url), clock, log, arrived }, either, {
          caughtUp: () => caughtUp(url),
          failed: failure.reject,
        });
        return await unlessAborted(Promise.race([relay.lost, failure.promise]), either);
      } finally {
        relays.remove(relay);
        relay.close();
      }
    };
    const connecting = async (): Promise<never> => {
      for (let failed = 0; ;) {
        const startedMs = clock.monotonic();
        const why = await oneConnection().catch((error: unknown) => error);
        either.throwIfAborted();
        if (!(why instanceof SvcError)) throw why;
        if (clock.monotonic() - startedMs >= STABLE_MS) failed = 0;
        failed += 1;
        if (!failures.has(url)) {
          log.warn("a relay is not connected; will retry", { channel: CHANNEL, relay: url, code: why.code });
        }
        failures.set(url, why);
        if (failures.size === relays.own.length) allDown.reject(commonFailure([...failures.values()]));
        const askedMs = Math.min(LONGEST_REST_MS, why.retryAfterMs ?? 0);
        await clock.sleep(retryDelayMs(failed, RECONNECT, { askedMs }), either);
        // What the last connection brought is read first: it would be brought again.
        while (isCrowded()) await clock.sleep(RECONNECT.firstMs, either);
      }
    };
    return [reading(), connecting()];
  };

  const work = [storing(), ...relays.own.flatMap(relayLoops)];
  try {
    await Promise.race([allDown.promise, ...work]);
  } catch (error) {
    if (!signal.aborted) throw asFinal(checkFailureOf(error));
  } finally {
    ending.abort(new SvcError("CANCELLED"));
    await Promise.allSettled(work);
  }
}

/** What waits to be dealt with, in its order. */
function queue<T>() {
  const items: T[] = [];
  let underWay = 0;
  let wake = (): void => undefined;
  let relieve = (): void => undefined;
  return {
    push(item: T): void {
      items.push(item);
      wake();
    },
    /** Resolves with at least one. */
    async take(most: number, signal: AbortSignal): Promise<readonly T[]> {
      signal.throwIfAborted();
      if (items.length === 0) await unlessAborted(new Promise<void>((resolve) => (wake = resolve)), signal);
      const taken = items.splice(0, most);
      underWay += taken.length;
      return taken;
    },
    done(taken: readonly T[]): void {
      underWay -= taken.length;
      relieve();
    },
    /** Resolves once less than a batch waits. For several waiters. */
    async notCrowded(signal: AbortSignal): Promise<void> {
      while (items.length + underWay > MOST_AT_ONCE) {
        const before = relieve;
        await unlessAborted(
          new Promise<void>((resolve) => {
            relieve = () => {
              before();
              resolve();
            };
          }),
          signal,
        );
      }
    },
  };
}

/** Resolves once all are on disk. */
async function store(
  { receive, clock, log }: ReceiveDeps["context"],
  messages: readonly Inbound[],
  state: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const onFailure = (error: unknown, retryInMs: number): void => {
    const reason = error instanceof SvcError ? error.code : "unknown";
    log.warn("messages could not be stored; will retry", { channel: CHANNEL, reason, retryInMs });
  };
  await retry(() => unlessAborted(receive(messages, { state }), signal), {
    ...STORE_BACKOFF,
    clock,
    signal,
    onFailure,
  });
}

/** Events of one relay: its stored ones, and new ones. */
interface Arrival {
  readonly events: readonly NostrEvent[];
  /** Everything that the relay had by then is among what has arrived. */
  readonly readUntilSecs: number;
}

interface Reading {
  readonly relay: Relay;
  readonly pubkey: string;
  readonly sinceSecs: number;
  readonly clock: FeatureContext["clock"];
  readonly log: FeatureContext["log"];
  readonly arrived: (arrival: Arrival) => void;
}

/** Time for a relay to send EOSE; without it, its stored events would never count as read. */
const CAUGHT_UP_LIMIT_MS = 30_000;
const PAGE_EVENTS = 500;
const MOST_PAGES = 1_000;
const MOST_HISTORY_EVENTS = 20_000;
const MOST_HISTORY_BYTES = 16_777_216;

/**
 * New events come from a subscription without history. Old events are fetched page by page once the subscription is open: no relay
 * returns its whole history in one answer, and some lose events that arrive between an answer and the subscription.
 */
function readRelay(
  { relay, pubkey, sinceSecs, clock, log, arrived }: Reading,
  signal: AbortSignal,
  listener: { caughtUp(): void; failed(error: unknown): void },
): void {
  const filter = { kinds: [KIND.legacy, KIND.wrap], "#p": [pubkey], since: sinceSecs };
  let early: NostrEvent[] | undefined = [];
  let isAsking = false;
  let isAskedAgain = false;
  const nowSecs = (): number => Math.floor(clock.now() / 1000);
  const catchUp = async (): Promise<void> => {
    do {
      isAskedAgain = false;
      const readUntilSecs = nowSecs();
      const events = await history(relay, filter, log, signal);
      arrived({ events: [...events, ...(early ?? [])], readUntilSecs });
      early = undefined;
    } while (isAskedAgain);
    listener.caughtUp();
  };
  const cancelLimit = clock.after(CAUGHT_UP_LIMIT_MS, () =>
    listener.failed(new SvcError("REMOTE_TIMEOUT", "The relay did not send its stored events in time.")),
  );
  signal.addEventListener("abort", cancelLimit, { once: true });
  void relay.lost.then(cancelLimit);
  relay.subscribe(
    { ...filter, limit: 1 },
    {
      event(event) {
        if (early === undefined) arrived({ events: [event], readUntilSecs: nowSecs() });
        // Beyond it, the history has them.
        else if (early.length < MOST_HISTORY_EVENTS) early.push(event);
      },
      caughtUp() {
        cancelLimit();
        isAskedAgain = true;
        if (isAsking) return;
        isAsking = true;
        void catchUp()
          .catch(listener.failed)
          .finally(() => (isAsking = false));
      },
    },
  );
}

async function history(
  relay: Relay,
  filter: { readonly kinds: readonly number[]; readonly "#p": readonly string[]; readonly since: number },
  log: FeatureContext["log"],
  signal: AbortSignal,
): Promise<readonly NostrEvent[]> {
  const found = new Map<string, NostrEvent>();
  let bytes = 0;
  let pages = 0;
  let until: number | undefined;
  while (pages < MOST_PAGES && found.size < MOST_HISTORY_EVENTS && bytes < MOST_HISTORY_BYTES) {
    pages += 1;
    const asked = { ...filter, limit: PAGE_EVENTS, ...(until !== undefined && { until }) };
    const events = (await relay.query(asked, signal)).filter(({ created_at: atSecs }) => atSecs >= filter.since);
    if (events.length === 0) return [...found.values()];
    const known = found.size;
    for (const event of events) {
      if (!found.has(event.id)) bytes += event.content.length;
      found.set(event.id, event);
    }
    const oldest = Math.min(...events.map(({ created_at: atSecs }) => atSecs));
    // A whole page of one second: what else is in it can't be asked for.
    until = Math.min(oldest, until ?? oldest) - (found.size > known ? 0 : 1);
  }
  log.warn("a relay has more messages than can be read at once; the oldest are not answered", {
    channel: CHANNEL,
    relay: relay.url,
  });
  return [...found.values()];
}
