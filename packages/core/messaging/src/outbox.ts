/**
 * Takes what waits in the outbox to its channel: in order within a conversation, conversations side by side. A delivery that
 * waits for its next attempt holds back those behind it and no other conversation; each channel has permits of its own, so one
 * that hangs holds up only itself. Nothing is sent while the disk refuses writes.
 */
import { type Channel, SvcError } from "@svc/contract";
import { inScope, LinkedList, Ongoing } from "@svc/kernel";
import type { Delivery, Store } from "@svc/store";
import { DeliveryQuarantine, suspectDelayMs } from "./crash-quarantine.ts";
import { Deliverer, type DelivererDeps } from "./deliver.ts";
import type { MessagingSettings } from "./types.ts";

export interface OutboxDeps extends DelivererDeps {
  readonly store: Pick<Store, "outbox" | "write" | "writable">;
  readonly settings: DeliverySettings;
}

export type DeliverySettings = Pick<MessagingSettings, "channels" | "isUp" | "maxAttempts">;

/** Sends of one channel at the same time. */
const PERMITS = 32;
/** How often a channel that is down is checked. */
const CHECK_AGAIN_MS = 1_000;

/** The conversations of one channel that could send now. */
interface ChannelQueue {
  readonly ready: LinkedList<DeliveryQueue>;
  sending: number;
}

export class OutboxDispatcher {
  readonly #deps: OutboxDeps;
  readonly #deliverer: Deliverer;
  readonly #queues = new Map<string, DeliveryQueue>();
  readonly #channels = new Map<string, ChannelQueue>();
  readonly #sends = new Ongoing();
  /** The sends that began with the settings in force. */
  #begun = new Ongoing();
  readonly #quarantine: DeliveryQuarantine<DeliveryQueue>;
  #settings: DeliverySettings;
  #isRunning = false;
  #isFilling = false;
  #cancelCheck: (() => void) | undefined;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#settings = deps.settings;
    this.#quarantine = new DeliveryQuarantine(deps.store);
    this.#deliverer = new Deliverer(deps, this.#quarantine);
  }

  /** Takes up what waits on disk. The retry delays of the last process are not kept. */
  start(): void {
    this.#isRunning = true;
    for (const left of this.#deps.store.outbox.waiting()) {
      this.#quarantine.add(left);
      this.#add(left.n, left.lane, left.channel, suspectDelayMs(left.crashes));
    }
  }

  /** Called after the commit that added or reopened these rows. */
  wake(rows: readonly Pick<Delivery, "n" | "lane" | "conversation" | "state">[]): void {
    if (!this.#isRunning) return;
    for (const { n, lane, conversation, state } of rows)
      if (state === "waiting") this.#add(n, lane, conversation.channel);
  }

  /** How many deliveries of a conversation wait. */
  backlog(key: string): number {
    return this.#queues.get(key)?.size ?? 0;
  }

  /** No delivery of the conversation waits or is being sent. */
  isIdle(key: string): boolean {
    return !this.#queues.has(key);
  }

  /** Called after the commit that dropped it. A running send is aborted; the platform may have it all the same. */
  forget({ n, lane: key }: Pick<Delivery, "n" | "lane">): void {
    const queue = this.#queues.get(key);
    if (queue?.current?.n === n) queue.current.stop.abort(new SvcError("TURN_CANCELLED"));
    else {
      this.#quarantine.forget(n);
      if (queue?.remove(n)) this.#endDelay(queue);
    }
  }

  /** Resolves when the sends that began before have ended. A channel that was created anew is tried at once. */
  reconfigure(settings: DeliverySettings): Promise<void> {
    const before = this.#settings.channels;
    const begun = this.#begun;
    this.#begun = new Ongoing();
    this.#settings = settings;
    for (const queue of this.#queues.values()) {
      if (settings.channels.get(queue.channel) !== before.get(queue.channel)) this.#endDelay(queue);
    }
    this.#fillSoon();
    return begun.idle();
  }

  /** Begins nothing new. A running send may end within `graceMs` and is aborted then. It stays waiting on disk. */
  async stop(graceMs: number): Promise<void> {
    this.#isRunning = false;
    this.#cancelCheck?.();
    for (const queue of this.#queues.values()) queue.cancelDelay?.();
    const cancel = this.#deps.clock.after(graceMs, () => {
      for (const queue of this.#queues.values()) queue.current?.stop.abort(new SvcError("DRAINING"));
    });
    await this.#sends.idle();
    cancel();
  }

  /** `firstDelayMs`: how long a queue that is new waits before its first attempt. */
  #add(n: number, key: string, channel: string, firstDelayMs = 0): void {
    let queue = this.#queues.get(key);
    if (!queue) {
      this.#queues.set(key, (queue = new DeliveryQueue(key, channel)));
      if (firstDelayMs > 0) this.#delay(queue, firstDelayMs);
    }
    queue.add(n);
    this.#next(queue);
  }

  /** A queue that is free and has a delivery lines up behind the others of its channel. */
  #next(queue: DeliveryQueue): void {
    if (!queue.isFree) return;
    if (queue.isEmpty) return void this.#queues.delete(queue.key);
    queue.isReady = true;
    this.#channelOf(queue.channel).ready.add(queue);
    this.#fillSoon();
  }

  #channelOf(id: string): ChannelQueue {
    let channel = this.#channels.get(id);
    if (!channel) this.#channels.set(id, (channel = { ready: new LinkedList(), sending: 0 }));
    return channel;
  }

  /** Not at once: the rows of one commit are added in these very microtasks, and the first of a queue may come last. */
  #fillSoon(): void {
    if (!this.#isRunning || this.#isFilling) return;
    this.#isFilling = true;
    setImmediate(() => {
      this.#isFilling = false;
      // Outside of the scope of the message that happened to wake it.
      if (this.#isRunning) inScope({}, () => this.#fill());
    });
  }

  #fill(): void {
    const isWritable = this.#deps.store.writable();
    let isHeld = false;
    for (const [id, waiting] of this.#channels) {
      if (waiting.ready.size === 0) continue;
      const channel = isWritable && this.#settings.isUp(id) ? this.#settings.channels.get(id) : undefined;
      if (channel) this.#fillOne(waiting, channel);
      else isHeld = true;
    }
    if (isHeld) this.#checkAgain();
  }

  #fillOne(waiting: ChannelQueue, channel: Channel): void {
    while (waiting.sending < PERMITS) {
      const queue = waiting.ready.shift();
      if (!queue) return;
      if (queue.first !== undefined && this.#quarantine.holds(queue, queue.first)) continue;
      queue.isReady = false;
      // Its deliveries may have been dropped.
      if (queue.isEmpty) this.#next(queue);
      else void this.#sends.during(() => this.#begun.during(() => this.#deliver(queue, waiting, channel)));
    }
  }

  #checkAgain(): void {
    this.#cancelCheck ??= this.#deps.clock.after(CHECK_AGAIN_MS, () => {
      this.#cancelCheck = undefined;
      this.#fillSoon();
    });
  }

  async #deliver(queue: DeliveryQueue, waiting: ChannelQueue, channel: Channel): Promise<void> {
    const { n, stop } = queue.take();
    const { maxAttempts } = this.#settings;
    waiting.sending += 1;
    this.#quarantine.begin(n);
    const delayMs = await this.#deliverer.deliver(n, { channel, maxAttempts, signal: stop.signal });
    waiting.sending -= 1;
    queue.current = undefined;
    for (const held of this.#quarantine.end(n)) this.#channelOf(held.channel).ready.add(held);
    if (delayMs === undefined) this.#quarantine.forget(n);
    else {
      queue.add(n);
      this.#delay(queue, delayMs);
    }
    this.#next(queue);
    this.#fillSoon();
  }

  #delay(queue: DeliveryQueue, ms: number): void {
    if (!this.#isRunning) return;
    queue.cancelDelay = this.#deps.clock.after(ms, () => this.#endDelay(queue));
  }

  #endDelay(queue: DeliveryQueue): void {
    queue.cancelDelay?.();
    queue.cancelDelay = undefined;
    this.#next(queue);
  }
}

/** The deliveries of one conversation, as numbers: a row is read from disk when its turn has come. */
class DeliveryQueue {
  readonly key: string;
  readonly channel: string;
  /** Ascending: they go in the order in which they were written. */
  readonly #waiting: number[] = [];
  /** What is being sent, and what aborts it. */
  current: { readonly n: number; readonly stop: AbortController } | undefined;
  /** After a failure: cancels the timer of the next attempt. */
  cancelDelay: (() => void) | undefined;
  /** Is in the list of its channel. */
  isReady = false;

  constructor(key: string, channel: string) {
    this.key = key;
    this.channel = channel;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** With the one that is being sent: it may come back. */
  get size(): number {
    return this.#waiting.length + (this.current ? 1 : 0);
  }

  get first(): number | undefined {
    return this.#waiting[0];
  }

  get isFree(): boolean {
    return this.current === undefined && this.cancelDelay === undefined && !this.isReady;
  }

  /** The first one becomes `current`. */
  take(): NonNullable<DeliveryQueue["current"]> {
    return (this.current = { n: this.#waiting.shift()!, stop: new AbortController() });
  }

  /** One that is there already is not added again. */
  add(n: number): void {
    const at = this.#indexOf(n);
    if (this.#waiting[at] !== n) this.#waiting.splice(at, 0, n);
  }

  /** Whether it was the first. */
  remove(n: number): boolean {
    const at = this.#indexOf(n);
    if (this.#waiting[at] !== n) return false;
    this.#waiting.splice(at, 1);
    return at === 0;
  }

  /** From the end, where nearly all of them belong. */
  #indexOf(n: number): number {
    let at = this.#waiting.length;
    while (at > 0 && this.#waiting[at - 1]! >= n) at -= 1;
    return at;
  }
}
