/** Messages that came in, from the transaction that stores them to the attempts that end them. */
import { type Channel, DEDUPE_MS, type Inbound, SvcError } from "@svc/contract";
import { Ongoing, type Scope, inScope } from "@svc/runtime";
import { keyOfConversation, asJson, jsonAs } from "@svc/kit";
import type { Arrival, Arrived, InboxMessage, KeptMessage, NewMessage, WaitingMessage } from "@svc/store";
import { type Attempted, ConversationQueue, type ConversationQueueDeps, isStopCommand } from "@svc/agent";
import { Attempt, type Permit, Permits, scopeOf, incomingId } from "./attempt.ts";
import type { ByHand, InTransaction, SaidByHand } from "./types.ts";
import { PriorityMessages } from "./priority-messages.ts";
import { type MessageDeps, MessageProcessor, type ProcessorDeps } from "./process-message.ts";

/** Notices are no turns; what they do is the channel's business. */
const PARALLEL_NOTICES = 8;
/** What the disk refused is tried again after this. */
const REFUSED_DELAY_MS = 1_000;
/** A message that can't even be read needs a person. */
const BROKEN_DELAY_MS = 60_000;
/** Channels give up locked messages themselves, and sooner; this is for those of a channel that is gone. */
const LOCKED_LASTS_MS = 2 * 86_400_000;
/** After the grace period of a shutdown: attempts that were aborted get so long to store that. */
const LAST_WRITES_MS = 2_000;

/** A message as a channel made it, as it is stored. */
export function newMessageOf(inbound: Inbound): NewMessage {
  const { kind = "message", id, dedupeMs = DEDUPE_MS, sequence, conversation, unlocks } = inbound;
  return {
    kind,
    conversationKey: keyOfConversation(conversation),
    body: asJson(unlocks === undefined ? inbound : withoutUnlocks(inbound)),
    ...(unlocks && { unlocks }),
    ...(id !== undefined && { dedupe: { key: id, forMs: dedupeMs, ...(sequence !== undefined && { sequence }) } }),
  };
}

/** Nearly no message has them, and to leave a field out takes a copy of all others. */
function withoutUnlocks({ unlocks: _unlocks, ...body }: Inbound): Omit<Inbound, "unlocks"> {
  return body;
}

export class Inbox {
  readonly #deps: ProcessorDeps;
  readonly #processor: MessageProcessor;
  readonly #priority: PriorityMessages;
  readonly #turns: ConversationQueue<WaitingMessage>;
  readonly #notices: ConversationQueue<WaitingMessage>;
  readonly #permits = new Permits();
  readonly #attempts = new Map<number, Attempt>();
  readonly #ongoing = new Ongoing();
  readonly #admission: Admission;
  /** What was on disk at the start is known up to here; undefined: not started. */
  #known: number | undefined;
  readonly #stopping = new AbortController();

  constructor(messageDeps: MessageDeps) {
    const stopping = this.#stopping.signal;
    const waitingBehind = (key: string): number => this.#turns.sizeOf(key) - 1;
    const deps: ProcessorDeps = { ...messageDeps, stopping, waitingBehind };
    const { clock } = deps;
    this.#deps = deps;
    this.#processor = new MessageProcessor(deps);
    const queueDeps: Omit<ConversationQueueDeps<WaitingMessage>, "maxParallel"> = {
      clock,
      begins: "soon",
      begin: (waiting, run) => {
        const permit = this.#permits.of(run, waiting.channel);
        void this.#ongoing.during(() => this.#attempt(waiting, permit)).then((attempted) => run.end(attempted));
      },
      canBegin: (channel) => this.#canBegin(channel),
    };
    this.#turns = new ConversationQueue({ ...queueDeps, maxParallel: deps.settings().maxParallelTurns });
    this.#notices = new ConversationQueue({ ...queueDeps, maxParallel: PARALLEL_NOTICES });
    const takes = (inbound: Inbound): boolean => deps.replies?.takes(inbound, clock.now()) ?? false;
    this.#admission = new Admission([this.#turns, this.#notices], takes);
    this.#priority = new PriorityMessages({
      ...deps,
      processor: this.#processor,
      queue: this.#turns,
      attempts: this.#attempts,
      background: (work) => this.#background(work),
    });
  }

  /** Rejects with BUSY, STORE_*: then nothing is stored. */
  async accept(arrival: Arrival, inTransaction?: InTransaction): Promise<Arrived> {
    const { store, clock } = this.#deps;
    const { messages } = arrival;
    this.#admission.enter(messages);
    try {
      const { arrived, committed } = await store.write(() => {
        const arrived = store.inbox.arrive(arrival, clock.now());
        return { arrived, committed: inTransaction?.(arrival, arrived) };
      });
      if (arrived.state === "kept") {
        for (const [at, stored] of arrived.messages.entries()) {
          if (stored !== "duplicate") this.#arrived(arrival.channel, messages[at]!, stored);
        }
      }
      committed?.();
      return arrived;
    } finally {
      this.#admission.leave(messages);
    }
  }

  #arrived(channel: string, { kind, conversationKey, body, unlocks }: NewMessage, { n, turnId }: KeptMessage): void {
    if (kind === "reaction" || kind === "locked") return;
    const inbound = jsonAs<Inbound>(body);
    if (kind === "message") {
      const { conversation, sender } = inbound;
      this.#deps.publish({ type: "message-received", messageId: incomingId(n), conversation, sender, turnId });
    }
    // A start after the commit finds it on disk, unless it was locked then.
    if (this.#known === undefined || (n <= this.#known && !unlocks)) return;
    const waiting = { n, channel, kind, conversationKey };
    if (kind === "message") this.#priority.arrived(waiting, inbound);
    else this.#notices.add(waiting);
  }

  /** A locked message has ended: its keys did not come. */
  failedUnread({ n, turnId }: KeptMessage): void {
    const message = this.#deps.store.inbox.read(n);
    if (message === undefined) return;
    const { conversation } = jsonAs<Inbound>(message.body);
    const code = "KEYS_MISSING";
    this.#deps.publish({ type: "message-failed", messageId: incomingId(n), conversation, turnId, code });
  }

  /** Takes up what the last process left, in the order of arrival, and goes on with new messages. */
  start(): void {
    const { store, clock } = this.#deps;
    const waiting = store.inbox.waiting();
    this.#known = waiting.at(-1)?.n ?? 0;
    for (const message of waiting) this.#queueOf(message.kind).add(message);
    for (const message of store.inbox.lost()) {
      this.#background(() => inScope(scopeOf(message), () => this.#tellLost(message)));
    }
    this.#background(() => this.#priority.find());
    this.#background(async () => {
      await store.write(() => store.inbox.endForgotten(clock.now() - LOCKED_LASTS_MS));
    });
    this.#turns.start();
    this.#notices.start();
  }

  /** What runs goes on as it began. A message that waits for its next attempt is tried at once: perhaps with another model. */
  reconfigure(): void {
    this.#turns.endDelays(() => true);
    this.#turns.resize(this.#deps.settings().maxParallelTurns);
    this.#notices.resize(PARALLEL_NOTICES);
  }

  /** See `PriorityMessages.replyByHand`. */
  replyByHand(reply: ByHand): Promise<SaidByHand> {
    return this.#priority.replyByHand(reply);
  }

  /** One that was replayed. */
  wake(message: WaitingMessage): void {
    if (this.#known !== undefined) this.#queueOf(message.kind).add(message);
  }

  /** The message of this turn was dropped. */
  stopTurn(turnId: string): void {
    for (const attempt of this.#attempts.values()) if (attempt.message.turnId === turnId) attempt.callOff("drop");
    // While it waits for its next attempt, those behind it wait too.
    const isIt = ({ n }: WaitingMessage): boolean => this.#deps.store.inbox.read(n)?.turnId === turnId;
    for (const queue of [this.#turns, this.#notices]) queue.endDelays(isIt);
  }

  /** Begins nothing more. What runs has `graceMs` to end, is aborted then, and goes on in the next process. */
  async stop(graceMs: number): Promise<void> {
    this.#turns.stop();
    this.#notices.stop();
    const { clock } = this.#deps;
    const idle = this.#ongoing.idle();
    const callOff = (): void => {
      for (const attempt of this.#attempts.values()) attempt.callOff("shutdown");
      this.#stopping.abort(new SvcError("TURN_CANCELLED"));
    };
    const late = Promise.withResolvers<void>();
    const cancels = [clock.after(graceMs, callOff), clock.after(graceMs + LAST_WRITES_MS, late.resolve)];
    await Promise.race([idle, late.promise]);
    for (const cancel of cancels) cancel();
    callOff();
    this.#processor.stop();
  }

  #queueOf(kind: WaitingMessage["kind"]): ConversationQueue<WaitingMessage> {
    return kind === "notice" ? this.#notices : this.#turns;
  }

  /** No turn begins whose end could not be stored. */
  #canBegin(channel: string): boolean {
    const { store, settings } = this.#deps;
    const { channels, isUp } = settings();
    return channels.has(channel) && isUp(channel) && store.writable();
  }

  async #attempt({ n }: WaitingMessage, permit: Permit): Promise<Attempted> {
    const { store, log, settings } = this.#deps;
    let scope: Scope = {};
    try {
      const message = store.inbox.read(n);
      if (message?.state !== "waiting") return await this.#processor.passOver(message);
      const channel = settings().channels.get(message.channel);
      if (!channel) return { retryDelayMs: REFUSED_DELAY_MS };
      scope = scopeOf(message);
      return await inScope(scope, () => this.#attemptAt(new Attempt(message, permit), channel));
    } catch (error) {
      if (this.#stopping.signal.aborted) return "over";
      const code = error instanceof SvcError ? error.code : "INTERNAL";
      const fields = { messageId: incomingId(n), code, error: String(error) };
      inScope(scope, () => log.error("unexpected error; message will be retried", fields));
      return { retryDelayMs: code.startsWith("STORE_") ? REFUSED_DELAY_MS : BROKEN_DELAY_MS };
    } finally {
      this.#attempts.delete(n);
    }
  }

  async #attemptAt(attempt: Attempt, channel: Channel): Promise<Attempted> {
    const { store } = this.#deps;
    const { message } = attempt;
    const { n, kind } = message;
    this.#attempts.set(n, attempt);
    if (this.#priority.isReply(message) && (await this.#priority.takeReply(n))) return "over";
    const scope = kind === "notice" ? scopeOf(message) : this.#processor.begin(message);
    // Not awaited: a process that dies before it is on disk has done nothing for the message.
    store.write(() => store.inbox.begin(n, scope.traceparent)).catch(() => undefined);
    return inScope(scope, () =>
      kind === "notice" ? this.#processor.handOver(attempt, channel) : this.#processor.answer(attempt, channel),
    );
  }

  async #tellLost(message: InboxMessage): Promise<void> {
    if (message.kind !== "message") return this.#processor.tellLost(message);
    // What follows in its conversation is answered after it, also if the disk takes its end later.
    const release = this.#turns.hold(message);
    try {
      await this.#processor.tellLost(message);
    } finally {
      release();
    }
  }

  #background(work: () => Promise<void>): void {
    this.#ongoing.during(work).catch((error: unknown) => {
      if (this.#stopping.signal.aborted) return;
      this.#deps.log.error("a part of the inbox failed unexpectedly", { error: String(error) });
    });
  }
}

/** Messages that wait, of all conversations. */
const MAX_WAITING = 100_000;
/** Messages that wait in one conversation: a sender that writes without an end is refused, and no other sender. */
const MAX_IN_CONVERSATION = 1_000;
const CONVERSATION_AGAIN_MS = 30_000;

/** The bounds of the inbox. Beyond them the platforms are told to come again: they keep what the inbox can't. */
class Admission {
  /** What was admitted before, and is on disk. */
  readonly #queues: readonly Pick<ConversationQueue<WaitingMessage>, "size" | "sizeOf">[];
  readonly #isReply: (inbound: Inbound) => boolean;
  /** On their way to the disk. */
  #arriving = 0;
  readonly #arrivingIn = new Map<string, number>();

  constructor(
    queues: readonly Pick<ConversationQueue<WaitingMessage>, "size" | "sizeOf">[],
    isReply: (inbound: Inbound) => boolean,
  ) {
    this.#queues = queues;
    this.#isReply = isReply;
  }

  /**
   * All of it, or BUSY: a platform that is told to come again brings all of it again. A conversation below its bound takes what
   * comes at once, however much it is, or else it would never be taken.
   */
  enter(messages: readonly NewMessage[]): void {
    let waiting = this.#arriving + messages.length;
    for (const { size } of this.#queues) waiting += size;
    if (waiting > MAX_WAITING) {
      throw new SvcError("BUSY", "Too many messages are waiting; try again shortly.", { retryAfterMs: 1_000 });
    }
    for (const message of messages) {
      if (!this.#isFull(message.conversationKey) || this.#isExempt(message)) continue;
      const text = "Too many messages are waiting in this conversation; try again later.";
      throw new SvcError("BUSY", text, { retryAfterMs: CONVERSATION_AGAIN_MS });
    }
    this.#arriving += messages.length;
    for (const { conversationKey } of messages)
      this.#arrivingIn.set(conversationKey, (this.#arrivingIn.get(conversationKey) ?? 0) + 1);
  }

  /** They wait now, or were not stored. */
  leave(messages: readonly NewMessage[]): void {
    this.#arriving -= messages.length;
    for (const { conversationKey } of messages) {
      const left = this.#arrivingIn.get(conversationKey)! - 1;
      if (left > 0) this.#arrivingIn.set(conversationKey, left);
      else this.#arrivingIn.delete(conversationKey);
    }
  }

  #isFull(key: string): boolean {
    let waiting = this.#arrivingIn.get(key) ?? 0;
    for (const queue of this.#queues) waiting += queue.sizeOf(key);
    return waiting >= MAX_IN_CONVERSATION;
  }

  /** Messages that do not wait in the queue: above all /stop, which empties it, and what the running turn waits for. */
  #isExempt({ kind, body }: NewMessage): boolean {
    const inbound = jsonAs<Inbound>(body);
    if (kind === "reaction" || kind === "locked") return true;
    return kind === "message" && (isStopCommand(inbound.text) || this.#isReply(inbound));
  }
}
