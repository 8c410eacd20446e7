/**
 * Messages that do not wait in their conversation behind others: `/stop`, which is about them; an answer to a question of ours,
 * which the turn before it may be waiting for; and a reply that a person writes in place of the model.
 */
import { type Inbound, SvcError } from "@svc/contract";
import { inScope } from "@svc/runtime";
import { keyOfConversation, jsonAs } from "@svc/kit";
import type { Delivery, InboxMessage, WaitingMessage } from "@svc/store";
import { newTurnId } from "@svc/store/turn-id";
import { type ConversationQueue, isStopCommand } from "@svc/agent";
import { type Attempt, scopeOf } from "./attempt.ts";
import { outgoingRows } from "./outgoing-rows.ts";
import type { MessageProcessor, ProcessorDeps } from "./process-message.ts";
import type { ByHand, SaidByHand, TakenReply } from "./types.ts";

export interface PriorityDeps extends Pick<
  ProcessorDeps,
  "store" | "agent" | "clock" | "dispatcher" | "replies" | "settings" | "stopping"
> {
  readonly processor: MessageProcessor;
  readonly queue: ConversationQueue<WaitingMessage>;
  /** Those that run. */
  readonly attempts: ReadonlyMap<number, Attempt>;
  /** Runs work that a shutdown waits for. */
  readonly background: (work: () => Promise<void>) => void;
}

export class PriorityMessages {
  readonly #deps: PriorityDeps;

  constructor(deps: PriorityDeps) {
    this.#deps = deps;
  }

  /** A message has come in, and is on disk. */
  arrived(waiting: WaitingMessage, inbound: Inbound): void {
    if (isStopCommand(inbound.text)) return this.#stopSoon(waiting.n);
    const { queue, replies, clock } = this.#deps;
    queue.add(waiting);
    if (replies?.takes(inbound, clock.now())) this.#takeSoon(waiting);
  }

  /** Finds those that the last process did not finish. */
  async find(): Promise<void> {
    const { store, queue, stopping } = this.#deps;
    for (const [looked, waiting] of queue.all().entries()) {
      // A hundred thousand may wait, and other work must be served.
      if (looked % 100 === 99) await new Promise(setImmediate);
      if (stopping.aborted) return;
      const { n, conversationKey } = waiting;
      const message = store.inbox.read(n);
      if (message?.kind !== "message") continue;
      const inItsScope = (work: () => void): void => inScope(scopeOf(message), work);
      if (this.isReply(message)) inItsScope(() => this.#takeSoon(waiting));
      else if (isStopCommand(jsonAs<Inbound>(message.body).text)) {
        if (queue.take(conversationKey, (other) => other.n === n).length > 0) inItsScope(() => this.#stopSoon(n));
      }
    }
  }

  /**
   * Whether it seems to answer a question of ours. A message whose turn has begun does not: the question of that turn must not be
   * answered by the words that made it ask.
   */
  isReply({ kind, body, receivedAtMs, turnId }: InboxMessage): boolean {
    const { store, replies } = this.#deps;
    if (!replies || kind !== "message") return false;
    return replies.takes(jsonAs<Inbound>(body), receivedAtMs) && store.steps.of(turnId).length === 0;
  }

  /**
   * Whether it answered a question; then the message has ended. Its end, what it resolves and the text for its sender are one
   * transaction: a kill leaves all of it or nothing. A message that resolves nothing is a message like any other. `isOurs`: inside
   * the transaction. Rejects with STORE_*.
   */
  async takeReply(n: number, isOurs: () => boolean = () => true): Promise<boolean> {
    const { store, replies, dispatcher, processor } = this.#deps;
    let deliveries: readonly Delivery[] = [];
    const taken = await store.write(() => {
      deliveries = [];
      const message = store.inbox.read(n);
      if (message?.state !== "waiting" || !isOurs() || !this.isReply(message)) return undefined;
      const reply = replies?.take(jsonAs<Inbound>(message.body), message.receivedAtMs);
      if (!reply) return undefined;
      store.inbox.end(n, "done");
      deliveries = this.#addReplyText(message, reply);
      return { reply, message };
    });
    if (!taken) return false;
    taken.reply.committed();
    processor.finish(taken.message);
    dispatcher.wake(deliveries);
    return true;
  }

  #addReplyText(message: InboxMessage, { text }: TakenReply): Delivery[] {
    if (text === undefined) return [];
    const { store, clock, settings } = this.#deps;
    const { channel, turnId } = message;
    const { conversation, replyData } = jsonAs<Inbound>(message.body);
    const keyOf = (part: number): string => `reply:${turnId}:${part}`;
    const outgoing = { conversation, replyData, turnId, text, files: [], keyOf };
    return store.outbox.add(outgoingRows(settings().channels.get(channel), outgoing), clock.now());
  }

  /** It keeps its place in the queue meanwhile: a message that resolves nothing is answered in its order. */
  #takeSoon({ n, conversationKey }: WaitingMessage): void {
    const { processor, queue, attempts, background } = this.#deps;
    const take = () => this.takeReply(n, () => !attempts.has(n));
    background(async () => {
      const isOver = await processor.retryUntilStored(n, take);
      if (isOver) queue.take(conversationKey, (other) => other.n === n);
    });
  }

  #stopSoon(n: number): void {
    this.#deps.background(() => this.#stopConversation(n));
  }

  /**
   * `/stop` on a channel: the running turn is aborted, and the messages that wait before it in the conversation end without one.
   * `n`: of the message that says so. Rejects only when the service stops before the end of it is on disk.
   */
  async #stopConversation(n: number): Promise<void> {
    const { store, clock, dispatcher, settings, processor, queue, attempts } = this.#deps;
    const message = store.inbox.read(n);
    if (message?.state !== "waiting") return;
    const { conversationKey, channel, turnId } = message;
    // What comes after it is answered after it.
    const release = queue.hold(message);
    const before = queue.take(conversationKey, (waiting) => waiting.n < n);
    const current = [...attempts.values()].find(
      (attempt) => attempt.message.conversationKey === conversationKey && attempt.message.n < n,
    );
    const isStopped = current !== undefined && this.#stopAttempt(current);
    const { conversation, replyData } = jsonAs<Inbound>(message.body);
    const text = isStopped || before.length > 0 ? "Stopped." : "Nothing was running.";
    const rows = outgoingRows(settings().channels.get(channel), { conversation, replyData, turnId, text, files: [] });
    let deliveries: readonly Delivery[] = [];
    const end = (): void => {
      deliveries = store.inbox.end(n, "done") ? store.outbox.add(rows, clock.now()) : [];
    };
    // First those before it: after a kill in between, the next start finds a /stop that ends the rest.
    try {
      for (const waiting of before) {
        const stopped = store.inbox.read(waiting.n);
        const note = (): undefined => void store.inbox.end(waiting.n, "done");
        if (stopped) await processor.endTurn(stopped, { note, keeps: true });
      }
      await processor.retryUntilStored(n, () => store.write(end));
      dispatcher.wake(deliveries);
    } finally {
      release();
    }
  }

  /** False: there is an answer already, and it is being stored. */
  #stopAttempt(attempt: Attempt): boolean {
    const { agent, processor } = this.#deps;
    const { owner, session } = processor.placeOf(attempt.message);
    if (!attempt.isTurn) attempt.callOff("stop");
    else if (agent.stop(owner, session, "/stop")) attempt.calledOff ??= "stop";
    else return false;
    return true;
  }

  /**
   * A person answers in place of the model, only to the people who wrote in the conversation; the messages that wait there have
   * their answer with it. Reply, messages and the line of the audit log are one transaction. Throws CHANNEL_UNKNOWN,
   * CHANNEL_CANNOT, TURN_RUNNING, STORE_*; then nothing is sent and nothing has changed.
   */
  async replyByHand({ owner, conversation, text, author, by }: ByHand): Promise<SaidByHand> {
    const { store, agent, clock, dispatcher, settings, processor, queue, attempts } = this.#deps;
    const session = keyOfConversation(conversation);
    const channel = settings().channels.get(conversation.channel);
    if (!channel) throw new SvcError("CHANNEL_UNKNOWN");
    const newest = store.inbox.newestIn(session);
    if (newest?.channel !== conversation.channel) throw new SvcError("CHANNEL_CANNOT", NO_ADDRESS, { hint: SEND });
    if ([...attempts.values()].some(({ message }) => message.conversationKey === session)) throw running();
    // Messages to the model from here on wait for the reply.
    const release = queue.hold({ conversationKey: session, channel: conversation.channel });
    try {
      const waiting = store.inbox.waitingIn(session);
      if (waiting.some(({ turnId }) => store.steps.of(turnId).length > 0)) throw running();
      const turnId = newTurnId();
      const { conversation: where, replyData, sender } = jsonAs<Inbound>(newest.body);
      const rows = outgoingRows(channel, { conversation: where, replyData, turnId, text, files: [] });
      if (rows.length === 0) throw new SvcError("BAD_BODY");
      const asked = waiting.map(({ body }) => jsonAs<Inbound>(body).text);
      let deliveries: readonly Delivery[] = [];
      const inTransaction = (): void => {
        for (const { n } of waiting) if (!store.inbox.end(n, "done")) throw running();
        deliveries = store.outbox.add(rows, clock.now());
        store.audit.add("reply_by_hand", {
          channel: conversation.channel,
          conversation: conversation.id,
          turn: turnId,
          by,
        });
      };
      await agent.replyByHand({ owner, session, turnId, asked, sender, text, author, inTransaction });
      const answered = new Set(waiting.map(({ n }) => n));
      queue.take(session, ({ n }) => answered.has(n));
      for (const message of waiting) processor.finish(message);
      dispatcher.wake(deliveries);
      return { turnId, deliveries };
    } finally {
      release();
    }
  }
}

const NO_ADDRESS = "Nothing that was written in this conversation is kept any more, so a reply has no address.";
const SEND = "Use svc send.";

const running = (): SvcError =>
  new SvcError("TURN_RUNNING", "The model is answering in this conversation.", { hint: "Stop it first, or wait." });
