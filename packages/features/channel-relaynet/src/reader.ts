/** Events that relays handed over, as messages of people who may write. */
import type { FeatureContext, Inbound } from "@svc/contract";
import { senderGate } from "@svc/kit";
import { CHANNEL, type Config, npubOf } from "./config.ts";
import type { Position } from "./position.ts";
import { type DirectMessage, type Identity, isRefused, type NostrEvent, openEvent, type Protocol } from "./protocol.ts";

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
