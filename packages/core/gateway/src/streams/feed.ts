/**
 * What one reader is told. A reader that is slower than what happens is not told more, so that no memory grows with it; when
 * it has read what it was told, it goes on where it stood, from the ring. Only what has left the ring meanwhile is missed,
 * and it is told how much that was.
 */
import type { Clock } from "@svc/contract";
import {
  type DropReason,
  type EventHub,
  type StampedEvent,
  type Subscriber,
  type Subscription,
  timestamp,
} from "@svc/kernel";
import type { Outlet } from "./outlet.ts";
import type { Sight } from "./sight.ts";

/** Who does not get to its end for so long is not reading. */
const STUCK_MS = 60_000;

export interface FeedOptions {
  readonly hub: EventHub;
  readonly clock: Clock;
  readonly outlet: Outlet;
  readonly sight: Sight;
  readonly deviceId: string;
  /** With more than this unread nothing is written. */
  readonly behindBytes: () => number;
}

export class Feed implements Subscriber {
  readonly deviceId: string;
  readonly outlet: Outlet;
  readonly #hub: EventHub;
  readonly #clock: Clock;
  readonly #sight: Sight;
  readonly #behindBytes: () => number;
  #subscription: Subscription | undefined;
  /** Number of the newest event that it was told, or need not be told. */
  #at: number;
  #behindSinceMs: number | undefined;
  /** Where it asked to go on while it did not read. */
  #wanted: string | undefined;
  #isCatchingUp = false;
  #isOver = false;

  constructor({ hub, clock, outlet, sight, deviceId, behindBytes }: FeedOptions) {
    this.#hub = hub;
    this.#clock = clock;
    this.#sight = sight;
    this.#behindBytes = behindBytes;
    this.#at = hub.n;
    this.outlet = outlet;
    this.deviceId = deviceId;
  }

  /** Where the reader stands. */
  get position(): string {
    return `${this.#hub.boot}-${this.#at}`;
  }

  /** Begins, or goes on, after the event of that id. */
  start(after: string = this.position): void {
    if (this.#isOver) return;
    if (this.#behindSinceMs !== undefined) {
      this.#wanted = after;
      return;
    }
    this.#subscription?.end();
    const subscription = this.#hub.subscribe(this, after);
    // In the middle of what was replayed it may have had enough.
    if (this.#behindSinceMs === undefined) this.#subscription = subscription;
    else subscription.end();
  }

  tell(event: StampedEvent): void {
    if (this.#isOver || this.#behindSinceMs !== undefined) return;
    this.#at = event.n;
    if (!this.#sight(event.event)) return;
    this.outlet.event(event);
    if (this.outlet.pending <= this.#behindBytes()) return;
    this.#behindSinceMs = this.#clock.monotonic();
    this.#subscription?.end();
  }

  dropped(reason: DropReason): void {
    // Of another one's numbers nothing can be counted.
    const missed = this.#isCatchingUp ? this.#hub.n - this.#at : null;
    this.#at = this.#hub.n;
    this.notice("events-dropped", { reason: this.#isCatchingUp ? "slow" : reason, missed });
  }

  /** The client has read all that was written. */
  drained(): void {
    if (this.#behindSinceMs === undefined || this.#isOver) return;
    const wanted = this.#wanted;
    this.#behindSinceMs = this.#wanted = undefined;
    this.#isCatchingUp = wanted === undefined;
    this.start(wanted);
    this.#isCatchingUp = false;
  }

  /** Tells something that is no event; not to one who does not read. */
  notice(type: string, payload: object): void {
    if (this.#behindSinceMs !== undefined || this.#isOver) return;
    const { position: id } = this;
    const json = JSON.stringify({ id, type, timestamp: timestamp(this.#clock.now()), payload });
    this.outlet.notice(id, type, json);
  }

  beat(): void {
    if (this.#isOver) return;
    if (this.#behindSinceMs === undefined) this.outlet.beat(this.position);
    else if (this.#clock.monotonic() - this.#behindSinceMs >= STUCK_MS) this.outlet.cut();
  }

  /** In order, where there is somebody to take leave of. */
  end(): void {
    this.stop();
    if (this.#behindSinceMs === undefined) this.outlet.end();
    else this.outlet.cut();
  }

  /** It is told nothing more. */
  stop(): void {
    this.#isOver = true;
    this.#subscription?.end();
  }
}
