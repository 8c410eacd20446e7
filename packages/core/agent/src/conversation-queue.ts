/**
 * The one queue of conversations: turns, incoming messages and deliveries. One item of a conversation at a time and in the order of
 * their numbers, conversations side by side up to a limit, in the order in which they became ready. `TurnQueue` puts jobs into it
 * whose callers wait; the inbox and the outbox put the numbers of messages into it, which are read from disk when their turn has come.
 */
import type { Clock } from "@svc/contract";
import { inScope, type Link, LinkedList } from "@svc/runtime";
import { MAX_CRASHES } from "@svc/store";

export interface QueuedItem {
  /** Its place in the conversation. */
  readonly n: number;
  /** Key of its conversation. */
  readonly conversationKey: string;
  readonly channel: string;
  /** Of one that an earlier process left: how many processes died while they worked on it. */
  readonly crashes?: number;
  /** Waits for its conversation, and for no permit. */
  readonly isAlone?: boolean;
}

/** The result of a run: the item has ended, or runs again after a delay. */
export type Attempted = "over" | { readonly retryDelayMs: number };

export interface ConversationQueueDeps<Item> {
  /** Needed where items run again or have crashes. */
  readonly clock?: Pick<Clock, "after">;
  /** Begins an item; `run.end` has to follow. Must not throw. */
  readonly begin: (item: Item, run: Run) => void;
  /**
   * `soon`: not before the running code is through. Callers that wait for the commit, above all the platform, are answered before
   * turns begin; and of the rows of one commit the first may be added last. Default: at once.
   */
  readonly begins?: "soon";
  /** Whether a channel can begin anything now. Default: always. */
  readonly canBegin?: (channel: string) => boolean;
  readonly maxParallel: number;
  /** Whether all conversations share the permits, or those of each channel. Default: all. */
  readonly permitsPer?: "queue" | "channel";
}

/** How often a channel that can't begin anything is asked again. */
const CHECK_AGAIN_MS = 1_000;

/** An item that runs. It has one of the permits of its group, unless it is alone or has released it. */
export interface Run {
  /** False: it had none. */
  release(): boolean;
  /** Waits for a permit, before those that have not begun. Rejects with the signal's reason when it is aborted by then. */
  reacquire(signal: AbortSignal): Promise<void>;
  /** Runs `work` without the permit, and takes it back at once, which may for a moment be more than the limit. */
  withoutPermit<T>(work: () => Promise<T>): Promise<T>;
  /** The same while nothing is done that a process could die of. */
  asleep<T>(work: () => Promise<T>): Promise<T>;
  end(attempted: Attempted): void;
}

/** Conversations that share permits. */
interface Group<Item> {
  readonly ready: LinkedList<Conversation<Item>>;
  /** Items that reacquire their permits. They began before the others, and their callers wait already. */
  readonly returning: LinkedList<() => void>;
  running: number;
}

/** The items of one conversation. */
class Conversation<Item> {
  readonly key: string;
  readonly channel: string;
  readonly group: Group<Item>;
  /** The one that runs is the first; the others are in the order of their numbers. */
  items: Item[] = [];
  isRunning = false;
  /** Is among the ready, or among the held. */
  isQueued = false;
  /** Its place among the ready. */
  place: Link<Conversation<Item>> | undefined = undefined;
  /** Cancels the timer of the next attempt. */
  cancelDelay: (() => void) | undefined = undefined;
  /** How many callers of `hold` have not released it. */
  holds = 0;

  constructor(key: string, channel: string, group: Group<Item>) {
    this.key = key;
    this.channel = channel;
    this.group = group;
  }
}

export class ConversationQueue<Item extends QueuedItem> {
  readonly #deps: ConversationQueueDeps<Item>;
  readonly #conversations = new Map<string, Conversation<Item>>();
  readonly #groups = new Map<string, Group<Item>>();
  /** By channel: conversations whose channel can't begin anything now. */
  readonly #held = new Map<string, Conversation<Item>[]>();
  readonly #quarantine = new CrashQuarantine<Conversation<Item>>();
  #maxParallel: number;
  #size = 0;
  #isStarted = false;
  #isFilling = false;
  #cancelCheck: (() => void) | undefined;
  readonly #owner: RunOwner<Item> = {
    fill: () => this.#fillSoon(),
    reacquire: (group, signal) => this.#reacquire(group, signal),
    sleep: (item) => this.#readyAgain(this.#quarantine.end(item)),
    wake: (item) => this.#quarantine.begin(item),
    end: (conversation, item, attempted) => this.#end(conversation, item, attempted),
  };

  constructor(deps: ConversationQueueDeps<Item>) {
    this.#deps = deps;
    this.#maxParallel = deps.maxParallel;
  }

  /** Permits that are in use. */
  get running(): number {
    let running = 0;
    for (const group of this.#groups.values()) running += group.running;
    return running;
  }

  /** Whether an item of this conversation would begin at once. */
  isFree({ conversationKey: key, channel }: Pick<QueuedItem, "conversationKey" | "channel">): boolean {
    return !this.#conversations.has(key) && this.#groupOf(channel).running < this.#maxParallel;
  }

  /** Items that wait, those that run included. */
  get size(): number {
    return this.#size;
  }

  sizeOf(key: string): number {
    return this.#conversations.get(key)?.items.length ?? 0;
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
  add(item: Item): void {
    const conversation = this.#conversationOf(item);
    const delayMs = suspectDelayMs(item.crashes);
    if (delayMs > 0 && conversation.items.length === 0) this.#delay(conversation, delayMs);
    if (insert(conversation, item)) this.#size += 1;
    this.#queue(conversation);
  }

  /** Removes, in order, the items of a conversation that do not run and for which `isWanted`. */
  take(key: string, isWanted: (item: Item) => boolean): Item[] {
    const conversation = this.#conversations.get(key);
    if (!conversation) return [];
    const { items, isRunning } = conversation;
    const taken = items.filter((item, at) => !(at === 0 && isRunning) && isWanted(item));
    if (taken.length === 0) return [];
    const isTaken = new Set(taken);
    conversation.items = items.filter((item) => !isTaken.has(item));
    this.#taken(conversation, taken.length, taken[0] === items[0]);
    return taken;
  }

  /** Removes one item that does not run. Of thousands that are given up at once, each would else walk all of them twice. */
  remove(item: Item): void {
    const conversation = this.#conversations.get(item.conversationKey);
    const at = conversation?.items.indexOf(item) ?? -1;
    if (!conversation || at < 0 || (at === 0 && conversation.isRunning)) return;
    conversation.items.splice(at, 1);
    this.#taken(conversation, 1, at === 0);
  }

  #taken(conversation: Conversation<Item>, count: number, wasFirst: boolean): void {
    this.#size -= count;
    const { items, group, place } = conversation;
    // The first one waited for a permit, which this one needs not.
    if (wasFirst && items[0]?.isAlone && place && group.ready.delete(place)) conversation.isQueued = false;
    // The item that the delay was for is gone.
    if (wasFirst) this.#endDelay(conversation);
    this.#forget(conversation);
  }

  /** Messages that wait for their next attempt, and for which `isWanted`, are attempted now. */
  endDelays(isWanted: (item: Item) => boolean): void {
    for (const conversation of this.#conversations.values()) {
      if (conversation.cancelDelay && isWanted(conversation.items[0]!)) this.#endDelay(conversation);
    }
  }

  /** Begins nothing more in this conversation until the result is called. */
  hold(of: Pick<QueuedItem, "conversationKey" | "channel">): () => void {
    const conversation = this.#conversationOf(of);
    conversation.holds += 1;
    return () => {
      conversation.holds -= 1;
      this.#queue(conversation);
      this.#forget(conversation);
    };
  }

  /** All items, those that run included. */
  all(): Item[] {
    return [...this.#conversations.values()].flatMap(({ items }) => items);
  }

  #conversationOf({
    conversationKey: key,
    channel,
  }: Pick<QueuedItem, "conversationKey" | "channel">): Conversation<Item> {
    let conversation = this.#conversations.get(key);
    if (!conversation) {
      conversation = new Conversation(key, channel, this.#groupOf(channel));
      this.#conversations.set(key, conversation);
    }
    return conversation;
  }

  #groupOf(channel: string): Group<Item> {
    const key = this.#deps.permitsPer === "channel" ? channel : "";
    let group = this.#groups.get(key);
    if (!group) this.#groups.set(key, (group = { ready: new LinkedList(), returning: new LinkedList(), running: 0 }));
    return group;
  }

  #queue(conversation: Conversation<Item>): void {
    const { isRunning, isQueued, cancelDelay, holds, items } = conversation;
    if (isRunning || isQueued || cancelDelay || holds > 0 || items.length === 0) return;
    if (items[0]!.isAlone) return this.#begin(conversation);
    conversation.isQueued = true;
    conversation.place = conversation.group.ready.add(conversation);
    this.#fillSoon();
  }

  #readyAgain(conversations: readonly Conversation<Item>[]): void {
    for (const conversation of conversations) conversation.place = conversation.group.ready.add(conversation);
    if (conversations.length > 0) this.#fillSoon();
  }

  #fillSoon(): void {
    if (!this.#isStarted || this.#isFilling) return;
    this.#isFilling = true;
    if (this.#deps.begins === "soon") setImmediate(() => this.#fillNow());
    else this.#fillNow();
  }

  #fillNow(): void {
    if (this.#deps.begins !== "soon") {
      this.#fill();
      this.#isFilling = false;
      return;
    }
    this.#isFilling = false;
    // Outside of the scope of the message that happened to wake it.
    if (this.#isStarted) inScope({}, () => this.#fill());
  }

  #fill(): void {
    for (const group of this.#groups.values()) this.#fillGroup(group);
  }

  #fillGroup(group: Group<Item>): void {
    while (group.running < this.#maxParallel) {
      const goOn = group.returning.shift();
      if (goOn) {
        group.running += 1;
        goOn();
        continue;
      }
      const conversation = group.ready.shift();
      if (!conversation) return;
      // Its items may have been taken out, or a caller holds it.
      const canRun = conversation.items.length > 0 && conversation.holds === 0;
      if (canRun && (this.#isHeld(conversation) || this.#quarantine.holds(conversation, conversation.items[0]!))) {
        continue;
      }
      conversation.isQueued = false;
      if (canRun) this.#begin(conversation);
      else this.#forget(conversation);
    }
  }

  #begin(conversation: Conversation<Item>): void {
    const item = conversation.items[0]!;
    conversation.isRunning = true;
    if (!item.isAlone) conversation.group.running += 1;
    this.#quarantine.begin(item);
    this.#deps.begin(item, new ItemRun(this.#owner, conversation, item));
  }

  #end(conversation: Conversation<Item>, item: Item, attempted: Attempted): void {
    conversation.isRunning = false;
    conversation.items.shift();
    if (attempted === "over" || !insert(conversation, item)) this.#size -= 1;
    if (attempted !== "over" && this.#isStarted) this.#delay(conversation, attempted.retryDelayMs);
    this.#queue(conversation);
    this.#forget(conversation);
    this.#fillSoon();
  }

  async #reacquire(group: Group<Item>, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        group.returning.delete(link);
        reject(signal.reason);
      };
      const link = group.returning.add(() => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      });
      signal.addEventListener("abort", giveUp, { once: true });
      this.#fillSoon();
    });
  }

  #delay(conversation: Conversation<Item>, delayMs: number): void {
    conversation.cancelDelay ??= this.#deps.clock?.after(delayMs, () => this.#endDelay(conversation));
  }

  #endDelay(conversation: Conversation<Item>): void {
    conversation.cancelDelay?.();
    conversation.cancelDelay = undefined;
    this.#queue(conversation);
  }

  #forget(conversation: Conversation<Item>): void {
    const isInUse = conversation.isRunning || conversation.isQueued || conversation.holds > 0;
    if (!isInUse && conversation.items.length === 0) this.#conversations.delete(conversation.key);
  }

  /** Whether its channel can't begin anything now. A channel that is held already is not asked again. */
  #isHeld(conversation: Conversation<Item>): boolean {
    const held = this.#held.get(conversation.channel);
    if (!held && (this.#deps.canBegin?.(conversation.channel) ?? true)) return false;
    if (held) held.push(conversation);
    else this.#held.set(conversation.channel, [conversation]);
    this.#checkAgain();
    return true;
  }

  #checkHeld(): void {
    this.#stopCheck();
    for (const [channel, conversations] of this.#held) {
      if (this.#deps.canBegin?.(channel) === false) continue;
      this.#held.delete(channel);
      this.#readyAgain(conversations);
    }
    if (this.#held.size > 0) this.#checkAgain();
  }

  #checkAgain(): void {
    this.#cancelCheck ??= this.#deps.clock?.after(CHECK_AGAIN_MS, () => this.#checkHeld());
  }

  #stopCheck(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = undefined;
  }
}

/** What a run asks of its queue. */
interface RunOwner<Item> {
  /** A permit is free. */
  fill(): void;
  reacquire(group: Group<Item>, signal: AbortSignal): Promise<void>;
  sleep(item: Item): void;
  wake(item: Item): void;
  end(conversation: Conversation<Item>, item: Item, attempted: Attempted): void;
}

class ItemRun<Item extends QueuedItem> implements Run {
  readonly #owner: RunOwner<Item>;
  readonly #conversation: Conversation<Item>;
  readonly #item: Item;
  #hasPermit: boolean;

  constructor(owner: RunOwner<Item>, conversation: Conversation<Item>, item: Item) {
    this.#owner = owner;
    this.#conversation = conversation;
    this.#item = item;
    this.#hasPermit = item.isAlone !== true;
  }

  release(): boolean {
    if (!this.#hasPermit) return false;
    this.#hasPermit = false;
    this.#conversation.group.running -= 1;
    this.#owner.fill();
    return true;
  }

  async reacquire(signal: AbortSignal): Promise<void> {
    await this.#owner.reacquire(this.#conversation.group, signal);
    this.#hasPermit = true;
  }

  async withoutPermit<T>(work: () => Promise<T>): Promise<T> {
    const isReleased = this.release();
    try {
      return await work();
    } finally {
      if (isReleased) {
        this.#hasPermit = true;
        this.#conversation.group.running += 1;
      }
    }
  }

  async asleep<T>(work: () => Promise<T>): Promise<T> {
    this.#owner.sleep(this.#item);
    try {
      return await this.withoutPermit(work);
    } finally {
      this.#owner.wake(this.#item);
    }
  }

  end(attempted: Attempted): void {
    this.#owner.sleep(this.#item);
    if (this.#hasPermit) this.#conversation.group.running -= 1;
    this.#hasPermit = false;
    this.#owner.end(this.#conversation, this.#item, attempted);
  }
}

/**
 * Behind the one that runs, by its number; from the end, where nearly all of them belong. False: it waits already. The one that runs
 * may wait once more: it was dropped and replayed meanwhile.
 */
function insert<Item extends QueuedItem>({ items, isRunning }: Conversation<Item>, item: Item): boolean {
  const least = isRunning ? 1 : 0;
  let at = items.length;
  while (at > least && items[at - 1]!.n >= item.n) at -= 1;
  if (items[at]?.n === item.n) return false;
  // Nearly every conversation has one item, or gets its newest.
  if (at === items.length) items.push(item);
  else items.splice(at, 0, item);
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
