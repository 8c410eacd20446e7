/**
 * The queue of messages by conversation: one of a conversation at a time and in order, conversations side by side up to a limit,
 * in the order in which they became ready. It holds only the numbers of messages: a message is read from disk when its turn has
 * come.
 */
import type { Clock } from "@svc/contract";
import { inScope, LinkedList } from "@svc/kernel";
import type { WaitingMessage } from "@svc/store";
import type { Attempted, Permit } from "./attempt.ts";
import { CrashQuarantine, suspectDelayMs } from "./crash-quarantine.ts";

export interface ConversationQueueDeps {
  readonly clock: Clock;
  /** Never rejects. */
  readonly attempt: (message: WaitingMessage, permit: Permit) => Promise<Attempted>;
  /** Whether a channel can begin anything now. */
  readonly canBegin: (channel: string) => boolean;
  readonly maxParallel: number;
}

/** How often a channel that can't begin anything is asked again. */
const CHECK_AGAIN_MS = 1_000;
/** Messages of one channel without a permit at the same time; each has a connection and a file open. */
const MAX_RELEASED = 64;

/** The messages of one conversation. */
interface Conversation {
  readonly key: string;
  readonly channel: string;
  /** The one that runs is the first. */
  readonly messages: LinkedList<WaitingMessage>;
  isRunning: boolean;
  /** Is among the ready, or among the held. */
  isQueued: boolean;
  /** Cancels the timer of the next attempt. */
  cancelDelay: (() => void) | undefined;
  /** How many callers of `hold` have not released it. */
  holds: number;
}

export class ConversationQueue {
  readonly #deps: ConversationQueueDeps;
  readonly #conversations = new Map<string, Conversation>();
  readonly #ready = new LinkedList<Conversation>();
  /** By channel: conversations whose channel can't begin anything now. */
  readonly #held = new Map<string, Conversation[]>();
  readonly #quarantine = new CrashQuarantine<Conversation>();
  /** By channel: messages that run without a permit. */
  readonly #released = new Map<string, number>();
  #maxParallel: number;
  #running = 0;
  #size = 0;
  #isStarted = false;
  #isFilling = false;
  #cancelCheck: (() => void) | undefined;

  constructor(deps: ConversationQueueDeps) {
    this.#deps = deps;
    this.#maxParallel = deps.maxParallel;
  }

  /** Messages that wait, those that run included. */
  get size(): number {
    return this.#size;
  }

  sizeOf(key: string): number {
    return this.#conversations.get(key)?.messages.size ?? 0;
  }

  /** Until then what is added waits. */
  start(): void {
    this.#isStarted = true;
    this.#fillSoon();
  }

  /** Begins nothing more. */
  stop(): void {
    this.#isStarted = false;
    this.#stopCheck();
    for (const conversation of this.#conversations.values()) conversation.cancelDelay?.();
  }

  /** What runs beyond a smaller limit runs on. What is held is checked now. */
  resize(maxParallel: number): void {
    this.#maxParallel = maxParallel;
    this.#checkHeld();
    this.#fillSoon();
  }

  add(message: WaitingMessage): void {
    const conversation = this.#conversationOf(message);
    const delayMs = suspectDelayMs(message.crashes);
    if (delayMs > 0 && conversation.messages.size === 0) {
      conversation.cancelDelay ??= this.#deps.clock.after(delayMs, () => this.#endDelay(conversation));
    }
    conversation.messages.add(message);
    this.#size += 1;
    this.#queue(conversation);
  }

  /** Removes, in order, the messages of a conversation that do not run and for which `isWanted`. */
  take(key: string, isWanted: (message: WaitingMessage) => boolean): WaitingMessage[] {
    const conversation = this.#conversations.get(key);
    if (!conversation) return [];
    const { first } = conversation.messages;
    const taken = takeOut(conversation, isWanted);
    this.#size -= taken.length;
    // The message that the delay was for is gone.
    if (taken[0] !== undefined && taken[0] === first) this.#endDelay(conversation);
    this.#forget(conversation);
    return taken;
  }

  /** Messages that wait for their next attempt, and for which `isWanted`, are attempted now. */
  endDelays(isWanted: (message: WaitingMessage) => boolean): void {
    for (const conversation of this.#conversations.values()) {
      if (conversation.cancelDelay && isWanted(conversation.messages.first!)) this.#endDelay(conversation);
    }
  }

  /** Begins nothing more in this conversation until the result is called. */
  hold(of: Pick<WaitingMessage, "lane" | "channel">): () => void {
    const conversation = this.#conversationOf(of);
    conversation.holds += 1;
    return () => {
      conversation.holds -= 1;
      this.#queue(conversation);
      this.#forget(conversation);
    };
  }

  /** All messages, those that run included. */
  all(): WaitingMessage[] {
    return [...this.#conversations.values()].flatMap(({ messages }) => messages.items());
  }

  #conversationOf({ lane: key, channel }: Pick<WaitingMessage, "lane" | "channel">): Conversation {
    let conversation = this.#conversations.get(key);
    if (!conversation) {
      const messages = new LinkedList<WaitingMessage>();
      const idle = { isRunning: false, isQueued: false, cancelDelay: undefined, holds: 0 };
      this.#conversations.set(key, (conversation = { key, channel, messages, ...idle }));
    }
    return conversation;
  }

  #queue(conversation: Conversation): void {
    const { isRunning, isQueued, cancelDelay, holds, messages } = conversation;
    if (isRunning || isQueued || cancelDelay || holds > 0 || messages.size === 0) return;
    conversation.isQueued = true;
    this.#ready.add(conversation);
    this.#fillSoon();
  }

  #readyAgain(conversations: readonly Conversation[]): void {
    for (const conversation of conversations) this.#ready.add(conversation);
    this.#fillSoon();
  }

  /** Not at once: callers that wait for the commit, above all the platform, are answered before turns begin. */
  #fillSoon(): void {
    if (!this.#isStarted || this.#isFilling) return;
    this.#isFilling = true;
    setImmediate(() => {
      this.#isFilling = false;
      // Outside of the scope of the message that happened to wake it.
      if (this.#isStarted) inScope({}, () => this.#fill());
    });
  }

  #fill(): void {
    while (this.#running < this.#maxParallel) {
      const conversation = this.#ready.shift();
      if (!conversation) return;
      // Its messages may have been taken out, or a caller holds it.
      const canRun = conversation.messages.size > 0 && conversation.holds === 0;
      if (
        canRun &&
        (this.#isHeld(conversation) || this.#quarantine.holds(conversation, conversation.messages.first!))
      ) {
        continue;
      }
      conversation.isQueued = false;
      if (canRun) void this.#run(conversation);
      else this.#forget(conversation);
    }
  }

  async #run(conversation: Conversation): Promise<void> {
    const message = conversation.messages.first!;
    conversation.isRunning = true;
    this.#running += 1;
    this.#quarantine.begin(message);
    const attempted = await this.#deps.attempt(message, {
      whileReleased: (work) => this.#whileReleased(conversation.channel, work),
      whileAsking: (work) => this.#whileAsking(message, work),
    });
    this.#readyAgain(this.#quarantine.end(message));
    this.#running -= 1;
    conversation.isRunning = false;
    if (attempted === "over") {
      conversation.messages.shift();
      this.#size -= 1;
    } else if (this.#isStarted) {
      conversation.cancelDelay = this.#deps.clock.after(attempted.retryDelayMs, () => this.#endDelay(conversation));
    }
    this.#queue(conversation);
    this.#forget(conversation);
    this.#fillSoon();
  }

  async #whileReleased<T>(channel: string, work: () => Promise<T>): Promise<T> {
    const others = this.#released.get(channel) ?? 0;
    // The message keeps its permit.
    if (others >= MAX_RELEASED) return work();
    this.#released.set(channel, others + 1);
    return this.#withoutPermit(work).finally(() => this.#released.set(channel, this.#released.get(channel)! - 1));
  }

  /** Nothing is done meanwhile that a process could die of. */
  async #whileAsking<T>(message: WaitingMessage, work: () => Promise<T>): Promise<T> {
    this.#readyAgain(this.#quarantine.end(message));
    return this.#withoutPermit(work).finally(() => this.#quarantine.begin(message));
  }

  async #withoutPermit<T>(work: () => Promise<T>): Promise<T> {
    this.#running -= 1;
    this.#fillSoon();
    try {
      return await work();
    } finally {
      this.#running += 1;
    }
  }

  #endDelay(conversation: Conversation): void {
    conversation.cancelDelay?.();
    conversation.cancelDelay = undefined;
    this.#queue(conversation);
  }

  #forget(conversation: Conversation): void {
    const isInUse = conversation.isRunning || conversation.isQueued || conversation.holds > 0;
    if (!isInUse && conversation.messages.size === 0) this.#conversations.delete(conversation.key);
  }

  /** Whether its channel can't begin anything now. A channel that is held already is not asked again. */
  #isHeld(conversation: Conversation): boolean {
    const held = this.#held.get(conversation.channel);
    if (!held && this.#deps.canBegin(conversation.channel)) return false;
    if (held) held.push(conversation);
    else this.#held.set(conversation.channel, [conversation]);
    this.#checkAgain();
    return true;
  }

  #checkHeld(): void {
    this.#stopCheck();
    for (const [channel, conversations] of this.#held) {
      if (!this.#deps.canBegin(channel)) continue;
      this.#held.delete(channel);
      this.#readyAgain(conversations);
    }
    if (this.#held.size > 0) this.#checkAgain();
  }

  #checkAgain(): void {
    this.#cancelCheck ??= this.#deps.clock.after(CHECK_AGAIN_MS, () => this.#checkHeld());
  }

  #stopCheck(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = undefined;
  }
}

/** In order, those that do not run and for which `isWanted`. */
function takeOut(
  { messages, isRunning }: Conversation,
  isWanted: (message: WaitingMessage) => boolean,
): WaitingMessage[] {
  const all = messages.items();
  const stays = new Set(all.filter((message, at) => (at === 0 && isRunning) || !isWanted(message)));
  if (stays.size === all.length) return [];
  while (messages.size > 0) messages.shift();
  for (const message of stays) messages.add(message);
  return all.filter((message) => !stays.has(message));
}
