/** The event hub as others see it: who publishes, who listens. */
import type { SvcEvent } from "@svc/contract";

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
