/**
 * Takes what waits in the outbox to its channel: in order within a conversation, conversations side by side. A delivery
 * that rests after a failure holds back those behind it and nobody else; a channel that hangs has places of its own to
 * hang in. Nothing is sent while the disk refuses to remember it.
 */
import { type Channel, SvcError } from "@svc/contract";
import { inScope, LinkedList, Ongoing } from "@svc/kernel";
import type { Delivery } from "@svc/store";
import { Lane } from "./lane.ts";
import { LeftBehind } from "./left-behind.ts";
import type { DeliverySettings, DispatcherOptions } from "./options.ts";
import { sendOne } from "./send-one.ts";
import { suspectRestMs } from "../suspects.ts";

/** Sends of one channel at the same time. */
const PLACES = 32;
/** How often a channel that is down is looked at. */
const LOOK_AGAIN_MS = 1_000;

/** Of one channel. */
interface Queue {
  readonly ready: LinkedList<Lane>;
  sending: number;
}

export class OutboxDispatcher {
  readonly #options: DispatcherOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #queues = new Map<string, Queue>();
  readonly #sends = new Ongoing();
  /** Those of them that began with the settings in force. */
  #begun = new Ongoing();
  readonly #left: LeftBehind<Lane>;
  #settings: DeliverySettings;
  #isRunning = false;
  #isFilling = false;
  #cancelLook: (() => void) | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#left = new LeftBehind(options.store);
  }

  /** Takes up what waits on disk. How long it was to rest after a failure was the last process's business. */
  start(): void {
    this.#isRunning = true;
    for (const left of this.#options.store.outbox.waiting()) {
      this.#left.add(left);
      this.#add(left.n, left.lane, left.channel, suspectRestMs(left.crashes));
    }
  }

  /** Called after the commit that added or reopened these rows. */
  wake(rows: readonly Pick<Delivery, "n" | "lane" | "conversation" | "state">[]): void {
    if (!this.#isRunning) return;
    for (const { n, lane, conversation, state } of rows)
      if (state === "waiting") this.#add(n, lane, conversation.channel);
  }

  /** How many wait to be sent in a lane. */
  backlog(lane: string): number {
    return this.#lanes.get(lane)?.size ?? 0;
  }

  /** Nothing waits to be sent there, nor is being sent. */
  isIdle(lane: string): boolean {
    return !this.#lanes.has(lane);
  }

  /** Called after the commit that dropped it. A send that runs is called off; the platform may have it all the same. */
  forget({ n, lane: key }: Pick<Delivery, "n" | "lane">): void {
    const lane = this.#lanes.get(key);
    if (lane?.current?.n === n) lane.current.stop.abort(new SvcError("TURN_CANCELLED"));
    else {
      this.#left.forget(n);
      if (lane?.remove(n)) this.#endRest(lane);
    }
  }

  /** What runs ends as it began: resolves when it has. A channel that was made anew is tried at once. */
  reconfigure(settings: DeliverySettings): Promise<void> {
    const before = this.#settings.channels;
    const begun = this.#begun;
    this.#begun = new Ongoing();
    this.#settings = settings;
    for (const lane of this.#lanes.values()) {
      if (settings.channels.get(lane.channel) !== before.get(lane.channel)) this.#endRest(lane);
    }
    this.#fillSoon();
    return begun.idle();
  }

  /** Begins nothing new; what is being sent may end within `graceMs` and is called off then. It stays waiting on disk. */
  async stop(graceMs: number): Promise<void> {
    this.#isRunning = false;
    this.#cancelLook?.();
    for (const lane of this.#lanes.values()) lane.cancelRest?.();
    const cancel = this.#options.clock.after(graceMs, () => {
      for (const lane of this.#lanes.values()) lane.current?.stop.abort(new SvcError("DRAINING"));
    });
    await this.#sends.idle();
    cancel();
  }

  /** `firstRestMs`: how long it rests where nothing is before it. */
  #add(n: number, key: string, channel: string, firstRestMs = 0): void {
    let lane = this.#lanes.get(key);
    if (!lane) {
      this.#lanes.set(key, (lane = new Lane(key, channel)));
      if (firstRestMs > 0) this.#rest(lane, firstRestMs);
    }
    lane.add(n);
    this.#next(lane);
  }

  /** Whoever has something to send and is free queues up behind the others of its channel. */
  #next(lane: Lane): void {
    if (!lane.isIdle) return;
    if (lane.isEmpty) return void this.#lanes.delete(lane.key);
    lane.isReady = true;
    this.#queueOf(lane.channel).ready.add(lane);
    this.#fillSoon();
  }

  #queueOf(channel: string): Queue {
    let queue = this.#queues.get(channel);
    if (!queue) this.#queues.set(channel, (queue = { ready: new LinkedList(), sending: 0 }));
    return queue;
  }

  /** Not at once: whoever was in the same commit and comes first in its lane is being told of in these very microtasks. */
  #fillSoon(): void {
    if (!this.#isRunning || this.#isFilling) return;
    this.#isFilling = true;
    setImmediate(() => {
      this.#isFilling = false;
      // Whoever has added one, or was sent, has nothing to do with what others added.
      if (this.#isRunning) inScope({}, () => this.#fill());
    });
  }

  #fill(): void {
    const isRemembered = this.#options.store.writable();
    let isHeld = false;
    for (const [id, queue] of this.#queues) {
      if (queue.ready.size === 0) continue;
      const channel = isRemembered && this.#settings.isUp(id) ? this.#settings.channels.get(id) : undefined;
      if (channel) this.#fillOne(queue, channel);
      else isHeld = true;
    }
    if (isHeld) this.#lookAgain();
  }

  #fillOne(queue: Queue, channel: Channel): void {
    while (queue.sending < PLACES) {
      const lane = queue.ready.shift();
      if (!lane) return;
      if (lane.first !== undefined && this.#left.holds(lane, lane.first)) continue;
      lane.isReady = false;
      // What it had may have been dropped.
      if (lane.isEmpty) this.#next(lane);
      else void this.#sends.during(() => this.#begun.during(() => this.#deliver(lane, queue, channel)));
    }
  }

  #lookAgain(): void {
    this.#cancelLook ??= this.#options.clock.after(LOOK_AGAIN_MS, () => {
      this.#cancelLook = undefined;
      this.#fillSoon();
    });
  }

  async #deliver(lane: Lane, queue: Queue, channel: Channel): Promise<void> {
    const { n, stop } = lane.take();
    const { maxAttempts } = this.#settings;
    queue.sending += 1;
    this.#left.begin(n);
    const waitMs = await sendOne(this.#options, this.#left, n, { channel, maxAttempts, signal: stop.signal });
    queue.sending -= 1;
    lane.current = undefined;
    for (const held of this.#left.end(n)) this.#queueOf(held.channel).ready.add(held);
    if (waitMs === undefined) this.#left.forget(n);
    else {
      lane.add(n);
      this.#rest(lane, waitMs);
    }
    this.#next(lane);
    this.#fillSoon();
  }

  #rest(lane: Lane, ms: number): void {
    if (!this.#isRunning) return;
    lane.cancelRest = this.#options.clock.after(ms, () => this.#endRest(lane));
  }

  #endRest(lane: Lane): void {
    lane.cancelRest?.();
    lane.cancelRest = undefined;
    this.#next(lane);
  }
}
