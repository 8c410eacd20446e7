/** Events that relays handed over, as messages of people who may write. */
import type { FeatureContext, Inbound } from "@svc/contract";
import { fieldsOf, parseJson, senderGate } from "@svc/kit";
import { CHANNEL, type Config, npubOf } from "./config.ts";
import {
  type DirectMessage,
  type Identity,
  type NostrEvent,
  type Protocol,
  SKEW_SECS,
  isRefused,
  openEvent,
} from "./protocol.ts";

/** Handed back with the answer, which goes out by the protocol of the question. */
export interface ReplyData {
  readonly id: string;
  readonly protocol: Protocol;
}

export interface ReaderDeps {
  readonly context: Pick<FeatureContext<Config>, "config" | "clock" | "log">;
  readonly identity: Identity;
}

/** A message from further ahead would keep its author's later ones out. */
const MOST_AHEAD_SECS = 86_400;
const MOST_KNOWN = 20_000;
const MOST_WARNED = 100;

export interface Opened {
  readonly eventId: string;
  readonly message: DirectMessage;
}

/** The messages in events, in the order in which they were written. */
export function messageReader({ context, identity }: ReaderDeps, position: Position) {
  const { config, clock, log } = context;
  const isAllowed = senderGate({ allowed: config.allowed_pubkeys, mode: "exact", log, channel: CHANNEL });
  /**
   * By the id of an event whose signature is right: its message until that is stored, undefined once nothing is left to do. A forged event
   * under the id of a genuine one is never in it, and so keeps nothing out.
   */
  const known = new Map<string, DirectMessage | undefined>();
  const warned = new Set<string>();
  const warnOnce = (message: string, fields: Readonly<Record<string, string>>): void => {
    const key = `${message} ${Object.values(fields).join(" ")}`;
    if (warned.has(key) || warned.size > MOST_WARNED) return;
    warned.add(key);
    log.warn(message, { channel: CHANNEL, ...fields });
  };
  const isForUs = ({ author, sentAtSecs }: DirectMessage): boolean => {
    if (author === identity.pubkey) return false;
    const sender = npubOf(author);
    if (!isAllowed(sender)) return false;
    if (sentAtSecs < position.heardFromSecs(sender)) {
      warnOnce("a message is dated before the channel was set up for its author and is not answered", { sender });
      return false;
    }
    if (sentAtSecs <= Math.floor(clock.now() / 1000) + MOST_AHEAD_SECS) return true;
    warnOnce("a message is dated more than a day ahead and is not answered", { sender });
    return false;
  };
  const messageIn = (event: NostrEvent, relay: string): DirectMessage | undefined => {
    if (known.has(event.id)) return known.get(event.id);
    const opened = openEvent(event, identity);
    if (isRefused(opened)) {
      warnOnce("a relay handed over an event that is not answered", { relay, reason: opened.refused });
      return undefined;
    }
    const message = isForUs(opened) ? opened : undefined;
    known.set(event.id, message);
    for (const oldest of known.keys()) if (known.size > MOST_KNOWN) known.delete(oldest);
    return message;
  };
  return {
    async read(events: readonly NostrEvent[], relay: string, signal: AbortSignal): Promise<readonly Opened[]> {
      const all: Opened[] = [];
      for (const event of events) {
        const message = messageIn(event, relay);
        if (message !== undefined) all.push({ eventId: event.id, message });
        // Each takes milliseconds of arithmetic.
        await new Promise<void>((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
      }
      return all.toSorted((one, other) => one.message.sentAtSecs - other.message.sentAtSecs);
    },
    stored: (eventId: string) => void (known.has(eventId) && known.set(eventId, undefined)),
  };
}

export function inboundOf({ id, author, text, sentAtSecs, protocol, repliesTo }: DirectMessage): Inbound {
  const sender = npubOf(author);
  return {
    id,
    sequence: sentAtSecs,
    conversation: { channel: CHANNEL, id: sender },
    sender,
    text: text.toWellFormed(),
    ...(repliesTo !== undefined && { repliesTo }),
    sentAtMs: sentAtSecs * 1000,
    replyData: { id, protocol } satisfies ReplyData,
  };
}

// How far each relay was read, and since when whose messages are answered. It is stored with the messages.

interface PositionDeps {
  readonly context: Pick<FeatureContext<Config>, "config" | "clock" | "state">;
  readonly identity: Identity;
}

/** Clocks of relays and people differ. */
const MARGIN_SECS = 3_600;
/** Without messages, how far the relays were read is stored this often. */
const STORE_EVERY_SECS = 600;

/** Its name in the feature's state. */
const POSITION = "position";

interface Position {
  /** What this person wrote before is not answered: the channel was not set up, or they were not allowed to write. */
  heardFromSecs(npub: string): number;
  sinceOf(relay: string): number;
  advance(relay: string, readUntilSecs: number): void;
  /** Long enough ago since it was last on disk. */
  isDue(): boolean;
  stored(): Readonly<Record<string, string>>;
}

/** As the last process left it. On disk before anything is read: a kill must not make the beginning later than it was. */
export async function openPosition({ context, identity }: PositionDeps): Promise<Position> {
  const { config, clock, state } = context;
  const nowSecs = (): number => Math.floor(clock.now() / 1000);
  const stored = await state.get(POSITION);
  const found = fieldsOf(stored === undefined ? undefined : parseJson(Buffer.from(stored)));
  // Another account has other messages.
  const isOurs = found["account"] === identity.pubkey;
  const before = isOurs ? numbersIn(found["allowed"]) : {};
  // A clock that was ahead for a while must not make the channel ignore people until that time comes.
  const notAhead = (secs: number): number => Math.min(secs, nowSecs());
  const allowed = Object.fromEntries(
    config.allowed_pubkeys.map((entry) => [entry, notAhead(before[entry] ?? Infinity)]),
  );
  const read = isOurs ? numbersIn(found["read"]) : {};
  const readUntil = Object.fromEntries(config.relays.map((url) => [url, read[url]]));
  const begun = notAhead(isOurs && typeof found["begun"] === "number" ? found["begun"] : Infinity);
  let storedSecs = nowSecs();
  const text = (): string => JSON.stringify({ account: identity.pubkey, begun, allowed, read: readUntil });
  if (stored !== text()) await state.set(POSITION, text());
  return {
    heardFromSecs: (npub) => Math.min(allowed[npub] ?? Infinity, allowed["*"] ?? Infinity),
    sinceOf: (relay) => Math.max(0, notAhead(readUntil[relay] ?? begun) - SKEW_SECS - MARGIN_SECS),
    advance(relay, readUntilSecs) {
      readUntil[relay] = notAhead(Math.max(readUntil[relay] ?? 0, readUntilSecs));
    },
    isDue: () => Math.abs(nowSecs() - storedSecs) >= STORE_EVERY_SECS,
    stored() {
      storedSecs = nowSecs();
      return { [POSITION]: text() };
    },
  };
}

const numbersIn = (value: unknown): Record<string, number> =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
