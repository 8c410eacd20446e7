/**
 * Which relays a person reads: those for private messages (kind 10050, NIP-17), else those of their general list (kind 10002, NIP-65).
 * The lists are their authors' own words, so nothing on them leads into a private network.
 */
import type { FeatureContext } from "@svc/contract";
import { isRelayUrl, relayUrl } from "./config.ts";
import { isRelayListOf, KIND, type NostrEvent } from "./protocol.ts";
import type { Relay } from "./relay.ts";

export interface RelaysOf {
  /** For private messages. Empty: the person has named none. */
  readonly inbox: readonly string[];
  readonly read: readonly string[];
}

export interface RelayListDeps {
  readonly clock: FeatureContext["clock"];
  /** Open connections to relays of ours that may be asked. */
  readonly ask: <T>(question: (relay: Relay) => Promise<T>, signal: AbortSignal) => Promise<readonly T[]>;
}

/** Every relay takes a connection and a moment. */
const MOST_RELAYS = 4;
const LASTS_MS = 3_600_000;
/** A person without lists may make some soon. */
const NONE_LASTS_MS = 300_000;
const MOST_PEOPLE = 1_000;

export function relayLists({ clock, ask }: RelayListDeps) {
  const known = new Map<string, { readonly relays: RelaysOf; readonly untilMs: number }>();
  return {
    /** Rejects only with the signal's reason: an unknown list reads as empty. */
    async of(person: string, signal: AbortSignal): Promise<RelaysOf> {
      const cached = known.get(person);
      if (cached !== undefined && cached.untilMs > clock.monotonic()) return cached.relays;
      const filter = { kinds: [KIND.inboxRelays, KIND.relayList], authors: [person], limit: 10 };
      const found = (await ask((relay) => relay.query(filter, signal), signal)).flat();
      signal.throwIfAborted();
      const relays = {
        inbox: listIn(found, person, KIND.inboxRelays, (tag) => tag[0] === "relay"),
        read: listIn(found, person, KIND.relayList, (tag) => tag[0] === "r" && tag[2] !== "write"),
      };
      const isNone = relays.inbox.length === 0 && relays.read.length === 0;
      known.delete(person);
      known.set(person, { relays, untilMs: clock.monotonic() + (isNone ? NONE_LASTS_MS : LASTS_MS) });
      for (const oldest of known.keys()) if (known.size > MOST_PEOPLE) known.delete(oldest);
      return relays;
    },
  };
}

/** The newest list counts. */
function listIn(
  events: readonly NostrEvent[],
  person: string,
  kind: number,
  isRelay: (tag: readonly string[]) => boolean,
): readonly string[] {
  const [newest] = events
    .filter((event) => isRelayListOf(event, person, kind))
    .toSorted((one, other) => other.created_at - one.created_at);
  const urls = (newest?.tags ?? []).flatMap((tag) => {
    const url = tag[1] ?? "";
    return isRelay(tag) && isRelayUrl(url) ? [relayUrl(url)] : [];
  });
  return [...new Set(urls)].slice(0, MOST_RELAYS);
}
