/** Message admin: lists, shows, replays and drops the messages that came in and those that go out. */
import { basename } from "node:path";
import type * as api from "@svc/api";
import { type ClientId, type Inbound, type Logger, SvcError } from "@svc/contract";
import type { Delivery, EndedPage, InboxMessage, MessageCounts, Store, WaitingMessage } from "@svc/store";
import { redactJson } from "@svc/config";
import { incomingId } from "./attempt.ts";
import type { EndedFilter, MessageAdmin, MessageDetail, MessageListFilter, MessageSummary, Replayed } from "./types.ts";
import { type OutboxDispatcher, outgoingId } from "./outbox.ts";
import { keysOfOwner, jsonAs } from "@svc/kit";

export interface AdminDeps {
  readonly store: Pick<Store, "inbox" | "outbox" | "write">;
  readonly log: Logger;
  readonly redact: Redact;
  readonly dispatcher: Pick<OutboxDispatcher, "wake" | "forget">;
  /** Called with an incoming message that waits again. */
  readonly wakeInbox: (message: WaitingMessage) => void;
  /** Stops the turn if it runs; called after its message was dropped. */
  readonly stopTurn: (turnId: string) => void;
}

type Redact = (text: string) => string;

type Found = { readonly box: "in"; readonly row: InboxMessage } | { readonly box: "out"; readonly row: Delivery };

/** Ids that an answer names: a hundred thousand would be too many to read. */
const MAX_IDS = 1_000;

const PENDING = "It waits, or is being worked on.";
const LOCKED = "It is encrypted, and its keys have not come: ask its sender to send it again.";
const ENDED = "Nothing is tried for it any more.";

/** Every change checks the state inside its transaction: the row may have changed since it was read. */
export class StoredMessageAdmin implements MessageAdmin {
  readonly #deps: AdminDeps;

  constructor(deps: AdminDeps) {
    this.#deps = deps;
  }

  counts(): MessageCounts {
    return this.#deps.store.inbox.counts();
  }

  list({ box, ...filter }: MessageListFilter, limit: number): MessageSummary[] {
    const { store, redact } = this.#deps;
    const { inbox, outbox } = store;
    const incoming = box === "out" ? [] : inbox.list(filter, limit).map((message) => incomingSummary(message, redact));
    const outgoing =
      box === "in" ? [] : outbox.list(filter, limit).map((delivery) => outgoingSummary(delivery, redact));
    // An answer of the same instant is the newer one.
    return [...outgoing, ...incoming].sort((a, b) => b.atMs - a.atMs).slice(0, limit);
  }

  show(id: string): MessageDetail {
    const { store, redact } = this.#deps;
    const { box, row } = this.#find(id);
    return box === "out" ? outgoingDetail(row, redact) : incomingDetail(row, store.outbox.ofTurn(row.turnId), redact);
  }

  async replay(id: string): Promise<MessageSummary> {
    const { box, row } = this.#find(id);
    return box === "out" ? this.#replayDelivery(row) : this.#replayMessage(row);
  }

  async drop(id: string): Promise<MessageSummary> {
    const { box, row } = this.#find(id);
    return box === "out" ? this.#dropDelivery(row) : this.#dropMessage(row);
  }

  async countEnded(ended: EndedFilter): Promise<number> {
    const { inbox, outbox } = this.#deps.store;
    const box = ended.state === "failed" ? inbox : outbox;
    let count = 0;
    for (let after: number | undefined = 0; after !== undefined;) {
      const { messages, next }: EndedPage<unknown> = box.ended({ ...ended, after });
      count += messages.length;
      after = next;
      await new Promise(setImmediate);
    }
    return count;
  }

  /** One transaction for each page, so that other writes are served meanwhile. */
  async replayAll({ state, ...filter }: EndedFilter, signal: AbortSignal): Promise<Replayed> {
    const { inbox, outbox } = this.#deps.store;
    // A message that fails again at once, or that comes in later, is not replayed.
    const last = (state === "failed" ? inbox : outbox).list({ state }, 1)[0]?.n ?? 0;
    const ids: string[] = [];
    let count = 0;
    for (let after: number | undefined = 0; after !== undefined && after < last;) {
      signal.throwIfAborted();
      const page = { ...filter, after, last };
      const replayed: ReplayedPage = await (state === "failed"
        ? this.#replayMessagePage(page)
        : this.#replayDeliveryPage(page));
      count += replayed.ids.length;
      ids.push(...replayed.ids.slice(0, MAX_IDS - ids.length));
      after = replayed.next;
    }
    return { count, ids };
  }

  /**
   * Drops what waits or runs for an owner whose access was revoked. Never rejects; what is missed here is dropped when its turn
   * comes.
   */
  async dropAllOf(owner: ClientId): Promise<void> {
    const { store, log } = this.#deps;
    const beginning = keysOfOwner(owner);
    for (const { n, conversationKey } of store.inbox.waiting()) {
      if (!conversationKey.startsWith(beginning)) continue;
      await this.drop(incomingId(n)).catch((error: unknown) => {
        log.warn("a message of a removed client could not be dropped yet", { error: String(error) });
      });
    }
  }

  /** Throws MESSAGE_UNKNOWN. */
  #find(id: string): Found {
    const { inbox, outbox } = this.#deps.store;
    const { box, n } = parseMessageId(id);
    if (box === "in") {
      const row = inbox.read(n);
      if (row) return { box, row };
    } else {
      const row = outbox.read(n);
      if (row) return { box, row };
    }
    throw messageUnknown();
  }

  async #replayMessage({ n, turnId, state, kind }: InboxMessage): Promise<MessageSummary> {
    const { store, redact, dispatcher, wakeInbox } = this.#deps;
    const { message, deliveries } = await store.write(() => {
      const isReopened = store.inbox.reopen(n);
      return {
        message: isReopened ? store.inbox.read(n) : undefined,
        deliveries: isReopened ? [] : this.#reopenDead(turnId),
      };
    });
    if (message) wakeInbox(message);
    else if (deliveries.length === 0)
      throw stateError(
        state === "waiting" ? PENDING : kind === "locked" ? LOCKED : "It is over, and nothing of it is dead.",
      );
    dispatcher.wake(deliveries);
    return incomingSummary(message ?? store.inbox.read(n)!, redact);
  }

  /** Inside a transaction. */
  #reopenDead(turnId: string): Delivery[] {
    const { outbox } = this.#deps.store;
    const dead = outbox.ofTurn(turnId).filter(({ state }) => state === "dead");
    for (const { n } of dead) outbox.reopen(n);
    return dead.map(({ n }) => outbox.read(n)!);
  }

  async #replayDelivery({ n, state }: Delivery): Promise<MessageSummary> {
    const { store, redact, dispatcher } = this.#deps;
    const delivery = await store.write(() => (store.outbox.reopen(n) ? store.outbox.read(n) : undefined));
    if (!delivery) throw stateError(state === "waiting" ? PENDING : "It was sent.");
    dispatcher.wake([delivery]);
    return outgoingSummary(delivery, redact);
  }

  async #dropMessage({ n }: InboxMessage): Promise<MessageSummary> {
    const { store, redact, stopTurn } = this.#deps;
    const message = await store.write(() => (store.inbox.end(n, "dropped") ? store.inbox.read(n) : undefined));
    if (!message) throw stateError(ENDED);
    stopTurn(message.turnId);
    return incomingSummary(message, redact);
  }

  async #dropDelivery({ n }: Delivery): Promise<MessageSummary> {
    const { store, redact, dispatcher } = this.#deps;
    const delivery = await store.write(() => (store.outbox.drop(n) ? store.outbox.read(n) : undefined));
    if (!delivery) throw stateError(ENDED);
    dispatcher.forget(delivery);
    return outgoingSummary(delivery, redact);
  }

  async #replayMessagePage({ last, ...filter }: PageFilter): Promise<ReplayedPage> {
    const { store, wakeInbox } = this.#deps;
    const { inbox } = store;
    const { messages, next } = await store.write((): EndedPage<WaitingMessage> => {
      const page = inbox.ended({ ...filter, state: "failed" });
      return { ...page, messages: page.messages.filter(({ n }) => n <= last && inbox.reopen(n)) };
    });
    for (const message of messages) wakeInbox(message);
    return { ids: messages.map(({ n }) => incomingId(n)), next };
  }

  async #replayDeliveryPage({ last, ...filter }: PageFilter): Promise<ReplayedPage> {
    const { store, dispatcher } = this.#deps;
    const { outbox } = store;
    const { messages, next } = await store.write(() => {
      const page = outbox.ended({ ...filter, state: "dead" });
      return { ...page, messages: page.messages.filter(({ n }) => n <= last && outbox.reopen(n)) };
    });
    dispatcher.wake(messages.flatMap(({ n }) => outbox.read(n) ?? []));
    return { ids: messages.map(({ n }) => outgoingId(n)), next };
  }
}

interface PageFilter {
  readonly channel?: string;
  readonly after: number;
  /** No number beyond it. */
  readonly last: number;
}

interface ReplayedPage {
  readonly ids: readonly string[];
  readonly next: number | undefined;
}

const stateError = (message: string): SvcError => new SvcError("MESSAGE_STATE", message);

// Messages as people see them. What people and the model wrote may hold a secret: it is redacted first.

/** Characters of a text that a list shows. */
const SHOWN_CHARS = 200;

function incomingSummary(message: InboxMessage, redact: Redact): MessageSummary {
  const { n, kind, state, channel, attempts, receivedAtMs, endedAtMs, error, turnId } = message;
  const inbound = inboundOf(message);
  return {
    id: incomingId(n),
    state,
    waitsFor: kind === "locked" && state === "waiting" ? "keys" : undefined,
    channel,
    conversation: inbound?.conversation,
    sender: inbound?.sender,
    text: beginningOf(inbound?.text ?? "", redact),
    attempts,
    atMs: receivedAtMs,
    endedAtMs,
    error,
    turnId: inbound && turnId,
  };
}

function incomingDetail(message: InboxMessage, deliveries: readonly Delivery[], redact: Redact): MessageDetail {
  const inbound = inboundOf(message);
  return {
    ...incomingSummary(message, redact),
    text: redact(inbound?.text ?? ""),
    kind: message.kind,
    files: (inbound?.media ?? []).map(({ kind, fileName }) => ({ kind, name: fileName ?? kind })),
    deliveries: deliveries.map((delivery) => outgoingSummary(delivery, redact)),
    platformId: undefined,
    platformStatus: undefined,
    platformReason: undefined,
    notice: inbound ? undefined : redactJson(message.body, redact),
  };
}

function outgoingSummary(delivery: Delivery, redact: Redact): MessageSummary {
  const { n, state, conversation, text, attempts, createdAtMs, endedAtMs, error, turnId } = delivery;
  return {
    id: outgoingId(n),
    state,
    waitsFor: undefined,
    channel: conversation.channel,
    conversation,
    sender: undefined,
    text: beginningOf(text, redact),
    attempts,
    atMs: createdAtMs,
    endedAtMs,
    error,
    turnId,
  };
}

function outgoingDetail(delivery: Delivery, redact: Redact): MessageDetail {
  const { text, files, platformId, platformStatus, platformReason } = delivery;
  return {
    ...outgoingSummary(delivery, redact),
    text: redact(text),
    kind: "delivery",
    files: files.map(({ kind, path }) => ({ kind, name: basename(path) })),
    deliveries: [],
    platformId,
    platformStatus,
    platformReason: platformReason && redact(platformReason),
    notice: undefined,
  };
}

/** Undefined for a notice, whose body is the channel's own. */
function inboundOf({ kind, body }: InboxMessage): Inbound | undefined {
  // It was an inbound message when it was stored.
  return kind === "notice" ? undefined : jsonAs<Inbound>(body);
}

/** Cut after the redaction, which does not recognize half a secret. */
function beginningOf(text: string, redact: Redact): string {
  const clean = redact(text);
  if (clean.length <= SHOWN_CHARS) return clean;
  return `${clean
    .slice(0, SHOWN_CHARS)
    .toWellFormed()
    .replace(/\uFFFD$/, "")}…`;
}

/** A message in the words of `/api/inbox` and `svc inbox --json`: the same in both. */
export const messageJson = (message: MessageSummary): api.InboxMessage => ({
  id: message.id,
  state: message.state,
  waits_for: message.waitsFor ?? null,
  channel: message.channel,
  conversation: message.conversation
    ? { id: message.conversation.id, thread: message.conversation.thread ?? null }
    : null,
  sender: message.sender ?? null,
  text: message.text,
  attempts: message.attempts,
  at: new Date(message.atMs).toISOString(),
  ended_at: message.endedAtMs === undefined ? null : new Date(message.endedAtMs).toISOString(),
  error: message.error ?? null,
  turn_id: message.turnId ?? null,
});

export const messageDetailJson = (message: MessageDetail): api.InboxMessageDetail => ({
  ...messageJson(message),
  kind: message.kind,
  files: message.files.map(({ kind, name }) => ({ kind, name })),
  deliveries: message.deliveries.map(messageJson),
  platform_id: message.platformId ?? null,
  platform_status: message.platformStatus ?? null,
  platform_reason: message.platformReason ?? null,
  notice: message.notice ?? null,
});

/** Throws MESSAGE_UNKNOWN. */
function parseMessageId(id: string): { readonly box: "in" | "out"; readonly n: number } {
  const [, box, digits] = /^(in|out)-([1-9]\d{0,14})$/.exec(id) ?? [];
  if (box === "in" || box === "out") return { box, n: Number(digits) };
  throw messageUnknown();
}

const messageUnknown = (): SvcError => new SvcError("MESSAGE_UNKNOWN", undefined, { hint: "See svc inbox list." });
