/** Events of one relay: its stored ones, and new ones. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { CHANNEL } from "./config.ts";
import { KIND, type NostrEvent } from "./protocol.ts";
import type { Relay } from "./relay.ts";

export interface Arrival {
  readonly events: readonly NostrEvent[];
  /** Everything that the relay had by then is among what has arrived. */
  readonly readUntilSecs: number;
}

export interface Reading {
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
export function readRelay(
  { relay, pubkey, sinceSecs, clock, log, arrived }: Reading,
  signal: AbortSignal,
  told: { caughtUp(): void; failed(error: unknown): void },
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
    told.caughtUp();
  };
  const cancelLimit = clock.after(CAUGHT_UP_LIMIT_MS, () =>
    told.failed(new SvcError("REMOTE_TIMEOUT", "The relay did not send its stored events in time.")),
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
          .catch(told.failed)
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
