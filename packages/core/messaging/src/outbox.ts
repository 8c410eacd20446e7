/**
 * Takes what waits in the outbox to its channel: in order within a conversation, conversations side by side. A delivery that
 * waits for its next attempt holds back those behind it and no other conversation; each channel has permits of its own, so one
 * that hangs holds up only itself. Nothing is sent while the disk refuses writes.
 */
import { SvcError } from "@svc/contract";
import { Ongoing } from "@svc/runtime";
import type { Delivery, Store } from "@svc/store";
import type { Attempted } from "./attempt.ts";
import { ConversationQueue } from "./conversation-queue.ts";
import { Deliverer, type DelivererDeps, type QueuedDelivery } from "./deliver.ts";
import type { MessagingSettings } from "./types.ts";

export interface OutboxDeps extends DelivererDeps {
  readonly store: Pick<Store, "outbox" | "write" | "writable">;
  readonly settings: DeliverySettings;
}

export type DeliverySettings = Pick<MessagingSettings, "channels" | "isUp" | "maxAttempts">;

/** Sends of one channel at the same time. */
const PERMITS = 32;

export class OutboxDispatcher {
  readonly #deps: OutboxDeps;
  readonly #deliverer: Deliverer;
  readonly #queue: ConversationQueue<QueuedDelivery>;
  /** By delivery that is being sent: what aborts it. */
  readonly #aborts = new Map<number, AbortController>();
  readonly #sends = new Ongoing();
  /** The sends that began with the settings in force. */
  #begun = new Ongoing();
  #settings: DeliverySettings;
  #isRunning = false;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#settings = deps.settings;
    this.#deliverer = new Deliverer(deps);
    this.#queue = new ConversationQueue({
      clock: deps.clock,
      attempt: (delivery) => this.#sends.during(() => this.#begun.during(() => this.#attempt(delivery))),
      canBegin: (channel) => {
        const { channels, isUp } = this.#settings;
        return channels.has(channel) && isUp(channel) && deps.store.writable();
      },
      maxParallel: PERMITS,
      permitsPer: "channel",
    });
  }

  /** Takes up what waits on disk. The retry delays of the last process are not kept. */
  start(): void {
    this.#isRunning = true;
    for (const left of this.#deps.store.outbox.waiting()) this.#queue.add(left);
    this.#queue.start();
  }

  /** Called after the commit that added or reopened these rows. */
  wake(rows: readonly Pick<Delivery, "n" | "lane" | "conversation" | "state">[]): void {
    if (!this.#isRunning) return;
    for (const { n, lane, conversation, state } of rows) {
      if (state === "waiting") this.#queue.add({ n, lane, channel: conversation.channel });
    }
  }

  /** How many deliveries of a conversation wait, with the one that is being sent. */
  backlog(key: string): number {
    return this.#queue.sizeOf(key);
  }

  /** No delivery of the conversation waits or is being sent. */
  isIdle(key: string): boolean {
    return this.#queue.sizeOf(key) === 0;
  }

  /** Called after the commit that dropped it. A running send is aborted; the platform may have it all the same. */
  forget({ n, lane: key }: Pick<Delivery, "n" | "lane">): void {
    const abort = this.#aborts.get(n);
    if (abort) abort.abort(new SvcError("TURN_CANCELLED"));
    else this.#queue.take(key, (waiting) => waiting.n === n);
  }

  /** Resolves when the sends that began before have ended. A channel that was created anew is tried at once. */
  reconfigure(settings: DeliverySettings): Promise<void> {
    const before = this.#settings.channels;
    const begun = this.#begun;
    this.#begun = new Ongoing();
    this.#settings = settings;
    this.#queue.endDelays(({ channel }) => settings.channels.get(channel) !== before.get(channel));
    this.#queue.resize(PERMITS);
    return begun.idle();
  }

  /** Begins nothing new. A running send may end within `graceMs` and is aborted then. It stays waiting on disk. */
  async stop(graceMs: number): Promise<void> {
    this.#isRunning = false;
    this.#queue.stop();
    const cancel = this.#deps.clock.after(graceMs, () => {
      for (const abort of this.#aborts.values()) abort.abort(new SvcError("DRAINING"));
    });
    await this.#sends.idle();
    cancel();
  }

  async #attempt(delivery: QueuedDelivery): Promise<Attempted> {
    const { channels, maxAttempts } = this.#settings;
    const abort = new AbortController();
    this.#aborts.set(delivery.n, abort);
    const sending = { channel: channels.get(delivery.channel)!, maxAttempts, signal: abort.signal };
    const delayMs = await this.#deliverer.deliver(delivery, sending);
    this.#aborts.delete(delivery.n);
    return delayMs === undefined ? "over" : { retryDelayMs: delayMs };
  }
}
