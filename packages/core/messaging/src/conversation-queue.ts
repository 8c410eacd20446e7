/**
 * The queue of messages by conversation, for both directions: one of a conversation at a time and in the order of their numbers,
 * conversations side by side up to a limit, in the order in which they became ready. It holds only the numbers of messages: a
 * message is read from disk when its turn has come.
 */
import type { Clock } from "@svc/contract";
import { LinkedList, inScope } from "@svc/runtime";
import type { Attempted, Permit } from "./attempt.ts";
import { MAX_CRASHES } from "@svc/store";

export interface QueuedMessage {
  readonly n: number;
  /** Key of its conversation. */
  readonly lane: string;
  readonly channel: string;
  /** Of one that an earlier process left: how many processes died while they worked on it. */
  readonly crashes?: number;
}

export interface ConversationQueueDeps<Message> {
  readonly clock: Clock;
  /** Never rejects. */
  readonly attempt: (message: Message, permit: Permit) => Promise<Attempted>;
  /** Whether a channel can begin anything now. */
  readonly canBegin: (channel: string) => boolean;
  readonly maxParallel: number;
  /** Whether all conversations share the permits, or those of each channel. Default: all. */
  readonly permitsPer?: "queue" | "channel";
}

/** How often a channel that can't begin anything is asked again. */
const CHECK_AGAIN_MS = 1_000;
/** Messages of one channel without a permit at the same time; each has a connection and a file open. */
const MAX_RELEASED = 64;

/** Conversations that share permits. */
interface Group<Message> {
  readonly ready: LinkedList<Conversation<Message>>;
  running: number;
}

/** The messages of one conversation. */
interface Conversation<Message> {
  readonly key: string;
  readonly channel: string;
  readonly group: Group<Message>;
  /** The one that runs is the first; the others are in the order of their numbers. */
  messages: Message[];
  isRunning: boolean;
  /** Is among the ready, or among the held. */
  isQueued: boolean;
  /** Cancels the timer of the next attempt. */
  cancelDelay: (() => void) | undefined;
  /** How many callers of `hold` have not released it. */
  holds: number;
}

export class ConversationQueue<Message extends QueuedMessage> {
  readonly #deps: ConversationQueueDeps<Message>;
  readonly #conversations = new Map<string, Conversation<Message>>();
  readonly #groups = new Map<string, Group<Message>>();
  /** By channel: conversations whose channel can't begin anything now. */
  readonly #held = new Map<string, Conversation<Message>[]>();
  readonly #quarantine = new CrashQuarantine<Conversation<Message>>();
  /** By channel: messages that run without a permit. */
  readonly #released = new Map<string, number>();
  #maxParallel: number;
  #size = 0;
  #isStarted = false;
  #isFilling = false;
  #cancelCheck: (() => void) | undefined;

  constructor(deps: ConversationQueueDeps<Message>) {
    this.#deps = deps;
    this.#maxParallel = deps.maxParallel;
  }

  /** Messages that wait, those that run included. */
  get size(): number {
    return this.#size;
  }

  sizeOf(key: string): number {
    return this.#conversations.get(key)?.messages.length ?? 0;
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

  /** One that is there already is not added again. */
  add(message: Message): void {
    const conversation = this.#conversationOf(message);
    const delayMs = suspectDelayMs(message.crashes);
    if (delayMs > 0 && conversation.messages.length === 0) {
      conversation.cancelDelay ??= this.#deps.clock.after(delayMs, () => this.#endDelay(conversation));
    }
    if (insert(conversation, message)) this.#size += 1;
    this.#queue(conversation);
  }

  /** Removes, in order, the messages of a conversation that do not run and for which `isWanted`. */
  take(key: string, isWanted: (message: Message) => boolean): Message[] {
    const conversation = this.#conversations.get(key);
    if (!conversation) return [];
    const { messages, isRunning } = conversation;
    const [first] = messages;
    const taken = messages.filter((message, at) => !(at === 0 && isRunning) && isWanted(message));
    if (taken.length === 0) return [];
    const isTaken = new Set(taken);
    conversation.messages = messages.filter((message) => !isTaken.has(message));
    this.#size -= taken.length;
    // The message that the delay was for is gone.
    if (taken[0] === first) this.#endDelay(conversation);
    this.#forget(conversation);
    return taken;
  }

  /** Messages that wait for their next attempt, and for which `isWanted`, are attempted now. */
  endDelays(isWanted: (message: Message) => boolean): void {
    for (const conversation of this.#conversations.values()) {
      if (conversation.cancelDelay && isWanted(conversation.messages[0]!)) this.#endDelay(conversation);
    }
  }

  /** Begins nothing more in this conversation until the result is called. */
  hold(of: Pick<QueuedMessage, "lane" | "channel">): () => void {
    const conversation = this.#conversationOf(of);
    conversation.holds += 1;
    return () => {
      conversation.holds -= 1;
      this.#queue(conversation);
      this.#forget(conversation);
    };
  }

  /** All messages, those that run included. */
  all(): Message[] {
    return [...this.#conversations.values()].flatMap(({ messages }) => messages);
  }

  #conversationOf({ lane: key, channel }: Pick<QueuedMessage, "lane" | "channel">): Conversation<Message> {
    let conversation = this.#conversations.get(key);
    if (!conversation) {
      const idle = { isRunning: false, isQueued: false, cancelDelay: undefined, holds: 0 };
      conversation = { key, channel, group: this.#groupOf(channel), messages: [], ...idle };
      this.#conversations.set(key, conversation);
    }
    return conversation;
  }

  #groupOf(channel: string): Group<Message> {
    const key = this.#deps.permitsPer === "channel" ? channel : "";
    let group = this.#groups.get(key);
    if (!group) this.#groups.set(key, (group = { ready: new LinkedList(), running: 0 }));
    return group;
  }

  #queue(conversation: Conversation<Message>): void {
    const { isRunning, isQueued, cancelDelay, holds, messages } = conversation;
    if (isRunning || isQueued || cancelDelay || holds > 0 || messages.length === 0) return;
    conversation.isQueued = true;
    conversation.group.ready.add(conversation);
    this.#fillSoon();
  }

  #readyAgain(conversations: readonly Conversation<Message>[]): void {
    for (const conversation of conversations) conversation.group.ready.add(conversation);
    this.#fillSoon();
  }

  /**
   * Not at once: callers that wait for the commit, above all the platform, are answered before turns begin; and of the rows of one
   * commit the first may be added last.
   */
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
    for (const group of this.#groups.values()) this.#fillGroup(group);
  }

  #fillGroup(group: Group<Message>): void {
    while (group.running < this.#maxParallel) {
      const conversation = group.ready.shift();
      if (!conversation) return;
      // Its messages may have been taken out, or a caller holds it.
      const canRun = conversation.messages.length > 0 && conversation.holds === 0;
      if (canRun && (this.#isHeld(conversation) || this.#quarantine.holds(conversation, conversation.messages[0]!))) {
        continue;
      }
      conversation.isQueued = false;
      if (canRun) void this.#run(conversation);
      else this.#forget(conversation);
    }
  }

  async #run(conversation: Conversation<Message>): Promise<void> {
    const { group } = conversation;
    const message = conversation.messages[0]!;
    conversation.isRunning = true;
    group.running += 1;
    this.#quarantine.begin(message);
    const attempted = await this.#deps.attempt(message, {
      whileReleased: (work) => this.#whileReleased(conversation, work),
      whileAsking: (work) => this.#whileAsking(conversation, message, work),
    });
    this.#readyAgain(this.#quarantine.end(message));
    group.running -= 1;
    conversation.isRunning = false;
    conversation.messages.shift();
    if (attempted === "over" || !insert(conversation, message)) this.#size -= 1;
    if (attempted !== "over" && this.#isStarted) {
      conversation.cancelDelay = this.#deps.clock.after(attempted.retryDelayMs, () => this.#endDelay(conversation));
    }
    this.#queue(conversation);
    this.#forget(conversation);
    this.#fillSoon();
  }

  async #whileReleased<T>({ channel, group }: Conversation<Message>, work: () => Promise<T>): Promise<T> {
    const others = this.#released.get(channel) ?? 0;
    // The message keeps its permit.
    if (others >= MAX_RELEASED) return work();
    this.#released.set(channel, others + 1);
    return this.#withoutPermit(group, work).finally(() =>
      this.#released.set(channel, this.#released.get(channel)! - 1),
    );
  }

  /** Nothing is done meanwhile that a process could die of. */
  async #whileAsking<T>({ group }: Conversation<Message>, message: Message, work: () => Promise<T>): Promise<T> {
    this.#readyAgain(this.#quarantine.end(message));
    return this.#withoutPermit(group, work).finally(() => this.#quarantine.begin(message));
  }

  async #withoutPermit<T>(group: Group<Message>, work: () => Promise<T>): Promise<T> {
    group.running -= 1;
    this.#fillSoon();
    try {
      return await work();
    } finally {
      group.running += 1;
    }
  }

  #endDelay(conversation: Conversation<Message>): void {
    conversation.cancelDelay?.();
    conversation.cancelDelay = undefined;
    this.#queue(conversation);
  }

  #forget(conversation: Conversation<Message>): void {
    const isInUse = conversation.isRunning || conversation.isQueued || conversation.holds > 0;
    if (!isInUse && conversation.messages.length === 0) this.#conversations.delete(conversation.key);
  }

  /** Whether its channel can't begin anything now. A channel that is held already is not asked again. */
  #isHeld(conversation: Conversation<Message>): boolean {
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

/**
 * Behind the one that runs, by its number; from the end, where nearly all of them belong. False: it waits already. The one that runs
 * may wait once more: it was dropped and replayed meanwhile.
 */
function insert<Message extends QueuedMessage>(
  { messages, isRunning }: Conversation<Message>,
  message: Message,
): boolean {
  const least = isRunning ? 1 : 0;
  let at = messages.length;
  while (at > least && messages[at - 1]!.n >= message.n) at -= 1;
  if (messages[at]?.n === message.n) return false;
  messages.splice(at, 0, message);
  return true;
}

/**
 * Crash quarantine: a message or a delivery that was being worked on in at least two processes that died may be what kills them. Such
 * suspects run one at a time, so that the guilty one dies alone and takes no other with it.
 */
interface Suspected {
  /** Of one that an earlier process left: how many processes died while they worked on it. */
  readonly crashes?: number;
}

/** One crash may be a power cut. */
const SUSPECT_CRASHES = 2;
const FIRST_DELAY_MS = 2_000;

const isSuspect = ({ crashes = 0 }: Suspected): boolean => crashes >= SUSPECT_CRASHES;

/**
 * How long a suspect waits after a start before it is tried. Without the delay, a service that ends within seconds for another
 * reason would use up all its tries.
 */
export const suspectDelayMs = (crashes = 0): number =>
  crashes < SUSPECT_CRASHES || crashes >= MAX_CRASHES ? 0 : FIRST_DELAY_MS * 2 ** (crashes - SUSPECT_CRASHES);

class CrashQuarantine<Queue> {
  #running = 0;
  readonly #others: Queue[] = [];

  /** Whether the queue, whose first message this is, has to wait for another suspect; then `end` returns it. */
  holds(queue: Queue, message: Suspected): boolean {
    if (!isSuspect(message) || this.#running === 0) return false;
    this.#others.push(queue);
    return true;
  }

  begin(message: Suspected): void {
    if (isSuspect(message)) this.#running += 1;
  }

  /** The queues that waited for it. */
  end(message: Suspected): Queue[] {
    if (!isSuspect(message)) return [];
    this.#running -= 1;
    // A suspect that waited for an approval may run again beside this one.
    return this.#running === 0 ? this.#others.splice(0) : [];
  }
}
