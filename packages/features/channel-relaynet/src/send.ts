/**
 * What we write. The events of a delivery are made once and stored before a relay sees them: a later try, in another process too, hands
 * out the very same, which relays and apps know by their ids. A delivery is sent when one relay has taken it; to the others it is handed
 * again later.
 */
import { hash } from "node:crypto";
import { type Conversation, type FeatureContext, type OutgoingMessage, type Receipt, SvcError } from "@svc/contract";
import { fieldsOf, parseJson, retryDelayMs, textOf, unlessAborted } from "@svc/kit";
import { CHANNEL, type Config, isRelayUrl, npubOf, publicKeyIn, relayUrl } from "./config.ts";
import {
  type Identity,
  KIND,
  type NostrEvent,
  eventOf,
  isRelayListOf,
  legacyMessage,
  wrappedMessage,
} from "./protocol.ts";
import type { ReplyData } from "./reader.ts";
import { type Outcome, type Relay, type Relays, commonFailure } from "./relays.ts";

export interface SendDeps {
  readonly context: Pick<FeatureContext<Config>, "clock" | "log" | "state">;
  readonly identity: Identity;
  readonly relays: Relays;
}

export interface Sender {
  send(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt>;
  /** Hands events to relays that have not taken them yet, as long as it runs. Rejects with the signal's reason. */
  publishAgain(signal: AbortSignal): Promise<never>;
}

/** The next message of a conversation waits for this one: relays that are slower than the first are handed it again later. */
const PATIENCE_MS = 300;
const OTHERS = { firstMs: 2_000, longestMs: 300_000 };
const MOST_TRIES = 8;
const MOST_UNPLACED = 500;
/** Sent events are forgotten after an hour, when the delivery's end is on disk; unsent ones when retries have ended. */
const SENT_LASTS_MS = 3_600_000;
const PREPARED_LASTS_SECS = 7 * 86_400;
const PREPARED = "delivery:";

interface Prepared {
  /** The message's id. */
  readonly id: string;
  readonly atSecs: number;
  readonly theirs: NostrEvent;
  readonly ours?: NostrEvent;
}

interface Unplaced {
  readonly event: NostrEvent;
  readonly url: string;
  readonly tries: number;
  readonly dueMs: number;
}

export function senderOf({ context, identity, relays }: SendDeps): Sender {
  const { clock, log, state } = context;
  const lists = relayLists({
    clock,
    async ask(question, signal) {
      const shared = relays.shared().map(({ url }) => url);
      const answers = await relays.useAll(shared.length > 0 ? shared : relays.own, question, signal);
      return answers.flatMap((one) => (one.isDone ? [one.value] : []));
    },
  });
  const unplaced: Unplaced[] = [];
  const sent: { readonly name: string; readonly atMs: number }[] = [];
  let wake = (): void => undefined;
  let lastSecs = 0;

  /** Includes the account, because another account signs different events. */
  const nameOf = (deliveryId: string): string =>
    `${PREPARED}${hash("sha256", `${identity.pubkey} ${deliveryId}`, "base64url").slice(0, 32)}`;
  const prepare = async ({ text, deliveryId, replyData }: OutgoingMessage, to: string): Promise<Prepared> => {
    const name = nameOf(deliveryId);
    const stored = await state.get(name);
    const known = stored === undefined ? undefined : preparedIn(stored);
    if (known !== undefined) return known;
    const { id: answers, protocol } = fieldsOf(replyData) as Partial<ReplyData>;
    // Apps order messages by their seconds.
    const nowSecs = Math.floor(clock.now() / 1000);
    lastSecs = Math.max(nowSecs, Math.min(lastSecs + 1, nowSecs + MOST_AHEAD_SECS));
    const written = { text: text.toWellFormed(), to, atSecs: lastSecs, answers: textOf(answers) };
    const { atSecs } = written;
    let prepared: Prepared;
    if (protocol === "legacy") {
      const theirs = legacyMessage(written, identity);
      prepared = { id: theirs.id, atSecs, theirs };
    } else prepared = { ...wrappedMessage(written, identity), atSecs };
    await state.set(name, JSON.stringify(prepared));
    return prepared;
  };

  const forgetSent = (): void => {
    while (sent[0] !== undefined && clock.monotonic() - sent[0].atMs > SENT_LASTS_MS) {
      void state.delete(sent.shift()!.name).catch(() => undefined);
    }
  };

  const later = (event: NostrEvent, url: string, tries: number): void => {
    if (tries >= MOST_TRIES || unplaced.length >= MOST_UNPLACED) return;
    unplaced.push({ event, url, tries, dueMs: clock.monotonic() + retryDelayMs(tries, OTHERS) });
    wake();
  };

  return {
    async send(message, signal) {
      signal.throwIfAborted();
      const { conversation } = message;
      const to = publicKeyIn(conversation.id);
      if (to === undefined) {
        throw new SvcError("DELIVERY_REFUSED", "The conversation is no public key.", {
          hint: "Write to an npub1… or to 64 hexadecimal digits.",
        });
      }
      forgetSent();
      const { id, theirs, ours } = await prepare(message, to);
      const { inbox, read } = await lists.of(to, signal);
      const usual = [...new Set([...relays.own, ...read])];
      const publish = (urls: readonly string[]) =>
        relays.useAll(urls, (relay) => relay.publish(theirs, signal), signal, PATIENCE_MS);
      const [placed] = await Promise.all([
        ours !== undefined && inbox.length > 0
          ? // A list that only leads into private networks is as good as none.
            publish(inbox).then((outcomes) => (outcomes.every(isForbidden) ? publish(usual) : outcomes))
          : publish(usual),
        ours &&
          relays
            .useAll(relays.own, (relay) => relay.publish(ours, signal), signal, PATIENCE_MS)
            .then((copies) => {
              if (copies.some(({ isDone }) => !isDone))
                log.debug("a relay has not taken our copy", { channel: CHANNEL });
              for (const one of copies) if (!one.isDone && isPassing(one.error)) later(ours, one.url, 1);
            }),
      ]);
      if (!placed.some(({ isDone }) => isDone)) {
        throw commonFailure(placed.flatMap((one) => (one.isDone ? [] : [one.error])));
      }
      for (const one of placed) if (!one.isDone && isPassing(one.error)) later(theirs, one.url, 1);
      sent.push({ name: nameOf(message.deliveryId), atMs: clock.monotonic() });
      const npub = npubOf(to);
      return {
        platformId: id,
        ...(npub !== conversation.id && { opened: { ...conversation, id: npub } satisfies Conversation }),
      };
    },
    async publishAgain(signal) {
      for (const name of await state.list(PREPARED)) {
        const prepared = preparedIn((await state.get(name)) ?? "");
        const isOld = prepared === undefined || clock.now() / 1000 - prepared.atSecs > PREPARED_LASTS_SECS;
        if (isOld) await state.delete(name);
      }
      for (;;) {
        signal.throwIfAborted();
        const nowMs = clock.monotonic();
        const due = unplaced.filter(({ dueMs }) => dueMs <= nowMs);
        for (const one of due) {
          unplaced.splice(unplaced.indexOf(one), 1);
          const { event, url, tries } = one;
          const failure = await relays
            .use(url, (relay) => relay.publish(event, signal), signal)
            .then(
              () => undefined,
              (error: unknown) => error,
            );
          signal.throwIfAborted();
          if (failure !== undefined && isPassing(failure)) later(event, url, tries + 1);
        }
        const nextMs = Math.min(...unplaced.map(({ dueMs }) => dueMs)) - clock.monotonic();
        if (nextMs <= 0) continue;
        const woken = new Promise<void>((resolve) => (wake = resolve));
        const timer = new AbortController();
        const sleep = Number.isFinite(nextMs)
          ? clock.sleep(nextMs, AbortSignal.any([signal, timer.signal])).catch(() => undefined)
          : undefined;
        try {
          await unlessAborted(Promise.race(sleep === undefined ? [woken] : [woken, sleep]), signal);
        } finally {
          timer.abort();
        }
      }
    },
  };
}

/** Several messages within a second are dated one second apart, so far ahead at most. */
const MOST_AHEAD_SECS = 60;

const isForbidden = (outcome: Outcome<void>): boolean => !outcome.isDone && outcome.error.code === "ADDRESS_REFUSED";

const isPassing = (error: unknown): boolean =>
  error instanceof SvcError && (error.code.startsWith("REMOTE_") || error.code === "CHANNEL_DOWN");

function preparedIn(text: string): Prepared | undefined {
  const { id, atSecs, theirs, ours } = fieldsOf(parseJson(Buffer.from(text)));
  const event = eventOf(theirs);
  const copy = eventOf(ours);
  if (typeof id !== "string" || typeof atSecs !== "number" || event === undefined) return undefined;
  return { id, atSecs, theirs: event, ...(copy !== undefined && { ours: copy }) };
}

/**
 * Which relays a person reads: those for private messages (kind 10050, NIP-17), else those of their general list (kind 10002, NIP-65). The
 * lists are their authors' own words, so nothing on them leads into a private network.
 */
interface RelaysOf {
  /** For private messages. Empty: the person has named none. */
  readonly inbox: readonly string[];
  readonly read: readonly string[];
}

interface RelayListDeps {
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

function relayLists({ clock, ask }: RelayListDeps) {
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
