/** The newest events, as many as fit a number and a size, for those who come back. Their numbers follow each other. */
import type { StampedEvent } from "./types.ts";

export interface RingLimits {
  readonly maxEvents: number;
  /** Of memory, estimated. */
  readonly maxBytes: number;
}

/** 4 096 events, or about 4 MiB of them. */
export const RING_LIMITS: RingLimits = Object.freeze({ maxEvents: 4_096, maxBytes: 4 * 1_048_576 });

export class EventRing {
  readonly #limits: RingLimits;
  /** By number, modulo the most there may be. */
  readonly #slots: (Slot | undefined)[];
  #first = 1;
  #last = 0;
  #bytes = 0;

  constructor(limits: RingLimits = RING_LIMITS) {
    this.#limits = limits;
    this.#slots = Array.from({ length: limits.maxEvents });
  }

  /** Estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `event.n` is one more than that of the event before. */
  add(event: StampedEvent): void {
    if (event.n - this.#first >= this.#limits.maxEvents) this.#drop();
    const bytes = bytesOf(event);
    this.#slots[event.n % this.#limits.maxEvents] = { event, bytes };
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
      events.push(this.#slots[next % this.#limits.maxEvents]!.event);
    }
    return events;
  }

  #drop(): void {
    const place = this.#first % this.#limits.maxEvents;
    this.#bytes -= this.#slots[place]!.bytes;
    this.#slots[place] = undefined;
    this.#first += 1;
  }
}

interface Slot {
  readonly event: StampedEvent;
  readonly bytes: number;
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
