/** How busy the last hour was, minute by minute. In memory: after a start it begins anew. */
import type { Clock, SvcEvent } from "@svc/contract";

/** Messages of channels; turns with an answer; answers that a platform took; turns without one, and answers given up. */
export type ActivityCount = "received" | "answered" | "delivered" | "failed";

/** A minute's counts. */
export type ActivityMinute = Readonly<Record<ActivityCount, number>> & {
  /** When it began: UTC, ISO. */
  readonly at: string;
};

const MINUTE_MS = 60_000;
const MINUTES = 60;

export class Activity {
  readonly #clock: Clock;
  /** By minute, modulo the hour. */
  readonly #minutes: Minute[] = Array.from({ length: MINUTES }, () => emptyMinute(-1));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  record(event: SvcEvent): void {
    const counted = countOf(event);
    if (counted === undefined) return;
    const number = this.#now();
    const place = number % MINUTES;
    // By the wall clock, which is what the picture shows: one that jumps back or over an hour finds a stale minute there.
    if (this.#minutes[place]!.number !== number) this.#minutes[place] = emptyMinute(number);
    this.#minutes[place]![counted] += 1;
  }

  /** Sixty minutes, the one that runs last. */
  minutes(): ActivityMinute[] {
    const now = this.#now();
    return Array.from({ length: MINUTES }, (_, index) => {
      const number = Math.max(0, now - (MINUTES - 1) + index);
      const slot = this.#minutes[number % MINUTES]!;
      const { received, answered, delivered, failed } = slot.number === number ? slot : emptyMinute(number);
      return { at: new Date(number * MINUTE_MS).toISOString(), received, answered, delivered, failed };
    });
  }

  #now(): number {
    return Math.max(0, Math.floor(this.#clock.now() / MINUTE_MS));
  }
}

interface Minute extends Record<ActivityCount, number> {
  /** Minutes since the epoch. */
  readonly number: number;
}

const emptyMinute = (number: number): Minute => ({ number, received: 0, answered: 0, delivered: 0, failed: 0 });

function countOf(event: SvcEvent): ActivityCount | undefined {
  switch (event.type) {
    case "message-received":
      return "received";
    case "turn-end":
      return event.ok ? "answered" : "failed";
    case "message-delivered":
      return "delivered";
    case "message-failed":
      // Of a message that came in, its turn has told it.
      return event.messageId.startsWith("out-") ? "failed" : undefined;
    default:
      return undefined;
  }
}
