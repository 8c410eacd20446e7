/**
 * Everything that happens, told to whoever listens now, and kept for a while for whoever comes back. Publishing costs next
 * to nothing while nobody listens: an event becomes text only for a reader.
 */
import type { Clock, Logger, SvcEvent } from "@svc/contract";
import { EventRing, RING_LIMITS, type RingLimits } from "./ring.ts";
import { readEventId, Stamped } from "./stamped.ts";
import type { DropReason, EventHub, StampedEvent, Subscriber, Subscription } from "./types.ts";
import type { WireOptions } from "./wire.ts";

export interface EventHubOptions extends Partial<WireOptions> {
  readonly clock: Clock;
  /** Random per start; printable ASCII, at most 64 characters. */
  readonly boot: string;
  readonly log?: Logger;
  readonly ring?: RingLimits;
}

export const createEventHub = (options: EventHubOptions): EventHub => new Hub(options);

class Hub implements EventHub {
  readonly boot: string;
  readonly #clock: Clock;
  readonly #log: Logger | undefined;
  readonly #wire: WireOptions;
  readonly #ring: EventRing;
  readonly #listeners = new Set<Listener>();
  /** Published while another one was being told: told after it, so that everybody sees the same order. */
  readonly #waiting: StampedEvent[] = [];
  #isTelling = false;
  #n = 0;

  constructor({ clock, boot, log, ring = RING_LIMITS, redact = asItIs, deviceOf = nobodys }: EventHubOptions) {
    this.boot = boot;
    this.#clock = clock;
    this.#log = log;
    this.#ring = new EventRing(ring);
    this.#wire = { redact, deviceOf };
  }

  get n(): number {
    return this.#n;
  }

  get subscribers(): number {
    return this.#listeners.size;
  }

  publish(event: SvcEvent): StampedEvent {
    const stamped = new Stamped(this.boot, (this.#n += 1), this.#clock.now(), event, this.#wire);
    this.#ring.add(stamped);
    if (this.#listeners.size === 0) return stamped;
    this.#waiting.push(stamped);
    this.#inOrder(() => {});
    return stamped;
  }

  subscribe(subscriber: Subscriber, after?: string): Subscription {
    const listener: Listener = { subscriber, toldUpTo: this.#n };
    const missed = after === undefined ? [] : this.#missed(after);
    this.#listeners.add(listener);
    this.#inOrder(() => {
      if (typeof missed === "string") this.#guarded(listener, () => subscriber.dropped(missed));
      else for (const event of missed) this.#guarded(listener, () => subscriber.tell(event));
    });
    return { end: () => void this.#listeners.delete(listener) };
  }

  #missed(after: string): StampedEvent[] | DropReason {
    const id = readEventId(after);
    // A number that was not given out yet: whatever made it, it was not this hub.
    if (id === undefined || (id.boot === this.boot && id.n > this.#n)) return "malformed";
    if (id.boot !== this.boot) return "another-boot";
    return this.#ring.has(id.n) ? this.#ring.after(id.n) : "too-old";
  }

  /** What is published meanwhile is told when `first`, and whatever else is being told, is over. */
  #inOrder(first: () => void): void {
    const isInside = this.#isTelling;
    this.#isTelling = true;
    first();
    if (isInside) return;
    for (let event = this.#waiting.shift(); event; event = this.#waiting.shift()) {
      for (const listener of this.#listeners) this.#tell(listener, event);
    }
    this.#isTelling = false;
  }

  #tell(listener: Listener, event: StampedEvent): void {
    // Who came while this event was being told has it from the ring, or did not ask for it.
    if (event.n <= listener.toldUpTo) return;
    listener.toldUpTo = event.n;
    this.#guarded(listener, () => listener.subscriber.tell(event));
  }

  /** One that throws, against its contract, must not keep the others from being told, nor the publisher from its work. */
  #guarded(listener: Listener, tell: () => void): void {
    if (!this.#listeners.has(listener)) return;
    try {
      tell();
    } catch (error) {
      this.#listeners.delete(listener);
      this.#log?.error("event subscriber failed; removed", {
        cause: error instanceof Error ? error.message : "unknown",
      });
    }
  }
}

interface Listener {
  readonly subscriber: Subscriber;
  /** Number of the newest event it was told, or need not be told. */
  toldUpTo: number;
}

const asItIs = (text: string): string => text;
const nobodys = (): undefined => undefined;
