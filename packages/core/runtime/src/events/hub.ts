/**
 * Everything that happens, told to whoever listens now, and kept for a while for whoever comes back. Publishing costs next
 * to nothing while nobody listens: an event becomes text only for a reader.
 */
import type { Clock, Logger, SvcEvent } from "@svc/contract";
import { type WireOptions, payloadOf, timestamp } from "./wire.ts";

// The event hub as others see it: who publishes, who listens.

/** An event with its id. Made once, shown to everybody. */
export interface StampedEvent {
  /** `<boot>-<n>`. */
  readonly id: string;
  readonly n: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly event: SvcEvent;
  /** `{"id","type","timestamp","payload"}` as JSON text; made when somebody asks for it first, and then once. */
  readonly json: string;
}

export interface EventHub {
  /** Random per start: what an id begins with. */
  readonly boot: string;
  /** Number of the newest event; 0 before the first. */
  readonly n: number;
  /** Never throws, never waits. */
  publish(event: SvcEvent): StampedEvent;
  /**
   * Calls `tell` with every event from here on, in order, in the same breath as it is published; it must not throw. `after`
   * is a `Last-Event-ID`: what came after it is told first. When that is not known, `dropped` is told in place of all of
   * it. Call the result to end it.
   */
  subscribe(subscriber: Subscriber, after?: string): Subscription;
  readonly subscribers: number;
}

export interface Subscriber {
  tell(event: StampedEvent): void;
  /** What it asked for is gone: told before anything else. */
  dropped(reason: DropReason): void;
}

/** Another start gave that id out; it is older than what is remembered; it is no id of ours. */
export type DropReason = "another-boot" | "too-old" | "malformed";

export interface Subscription {
  end(): void;
}

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

  constructor({ clock, boot, log, ring = RING_LIMITS, redact = unchanged, deviceOf = nobodys }: EventHubOptions) {
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

const unchanged = (text: string): string => text;
const nobodys = (): undefined => undefined;

/** An event with its number. Its JSON is made for whoever asks first, and kept for all others. */
class Stamped implements StampedEvent {
  readonly n: number;
  readonly atMs: number;
  readonly event: SvcEvent;
  readonly #boot: string;
  readonly #wire: WireOptions;
  #json: string | undefined;

  constructor(boot: string, n: number, atMs: number, event: SvcEvent, wire: WireOptions) {
    this.#boot = boot;
    this.n = n;
    this.atMs = atMs;
    this.event = event;
    this.#wire = wire;
  }

  get id(): string {
    return `${this.#boot}-${this.n}`;
  }

  get json(): string {
    return (this.#json ??= JSON.stringify({
      id: this.id,
      type: this.event.type,
      timestamp: timestamp(this.atMs),
      payload: payloadOf(this.event, this.#wire),
    }));
  }
}

/** What a `Last-Event-ID` points to; undefined: it is no id of ours. A boot may have a dash in it. */
export function readEventId(id: string): { readonly boot: string; readonly n: number } | undefined {
  const parts = /^([\x21-\x7e]{1,64})-(0|[1-9]\d{0,14})$/.exec(id);
  return parts?.[1] === undefined ? undefined : { boot: parts[1], n: Number(parts[2]) };
}

/** The newest events, as many as fit a number and a size, for those who come back. Their numbers follow each other. */
interface RingLimits {
  readonly maxEvents: number;
  /** Of memory, estimated. */
  readonly maxBytes: number;
}

/** 4 096 events, or about 4 MiB of them. */
const RING_LIMITS: RingLimits = Object.freeze({ maxEvents: 4_096, maxBytes: 4 * 1_048_576 });

export class EventRing {
  readonly #limits: RingLimits;
  /** By number, modulo the most there may be. */
  readonly #slots: (StampedEvent | undefined)[] = [];
  /** Of the event in the same place. */
  readonly #sizes: number[] = [];
  #first = 1;
  #last = 0;
  #bytes = 0;

  constructor(limits: RingLimits = RING_LIMITS) {
    this.#limits = limits;
  }

  /** Estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `event.n` is one more than that of the event before. */
  add(event: StampedEvent): void {
    if (event.n - this.#first >= this.#limits.maxEvents) this.#drop();
    const bytes = bytesOf(event);
    const place = event.n % this.#limits.maxEvents;
    this.#slots[place] = event;
    this.#sizes[place] = bytes;
    this.#last = event.n;
    this.#bytes += bytes;
    // One that is larger than the whole ring is not remembered either.
    while (this.#bytes > this.#limits.maxBytes) this.#drop();
  }

  /** Whether everything that came after number `n` is here. */
  has(n: number): boolean {
    return n >= this.#first - 1;
  }

  /** What came after number `n`, as of now; whatever is published meanwhile is not in it. */
  after(n: number): StampedEvent[] {
    const events: StampedEvent[] = [];
    for (let next = Math.max(n + 1, this.#first); next <= this.#last; next += 1) {
      events.push(this.#slots[next % this.#limits.maxEvents]!);
    }
    return events;
  }

  #drop(): void {
    const place = this.#first % this.#limits.maxEvents;
    this.#bytes -= this.#sizes[place]!;
    this.#slots[place] = undefined;
    this.#first += 1;
  }
}

/** Objects, keys, and what the JSON has beside the texts. */
const FIXED_BYTES = 1_024;
/** A text is there twice, as it came and in the JSON, in at most two bytes for each of its units. */
const BYTES_PER_CHAR = 4;

function bytesOf({ event }: StampedEvent): number {
  let chars = 0;
  for (const key in event) chars += charsIn(event[key as keyof typeof event]);
  return FIXED_BYTES + chars * BYTES_PER_CHAR;
}

function charsIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let chars = 0;
  for (const key in value) chars += charsIn((value as Readonly<Record<string, unknown>>)[key]);
  return chars;
}
