/**
 * Everybody who is told of events as they happen. There is a most of them, all and of one device; now and then each is shown
 * that we are there, who does not read is cut, and when the service stops all are told so and sent home.
 */
import type { Clock, SvcEvent } from "@svc/contract";
import {
  type DropReason,
  type EventHub,
  type StampedEvent,
  type Subscriber,
  type Subscription,
  timestamp,
} from "@svc/kernel";
import type { Device } from "@svc/store";
import { errorReply, type Reply } from "../http/reply.ts";

export interface CrowdLimits {
  readonly most: number;
  /** One device that opens all it can must leave room for the others. */
  readonly mostPerDevice: number;
}

const LIMITS: CrowdLimits = { most: 5_000, mostPerDevice: 2_000 };
/** What may be unread of one reader, and less of each where there are many: an event of a hundred bytes takes three times as much. */
const BEHIND_BYTES = 256 * 1024;
const ALL_BEHIND_BYTES = 32 * 1_048_576;
const BEAT_MS = 15_000;
/** How long whoever was sent home may take to go. */
const LEAVE_MS = 1_000;

export class Crowd {
  readonly frames = new Frames();
  readonly #hub: EventHub;
  readonly #clock: Clock;
  readonly #limits: CrowdLimits;
  readonly #feeds = new Set<Feed>();
  readonly #perDevice = new Map<string, number>();
  #cancelBeat: (() => void) | undefined;
  #cancelCut: (() => void) | undefined;
  #isDraining = false;

  constructor(hub: EventHub, clock: Clock, limits: CrowdLimits = LIMITS) {
    this.#hub = hub;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Why a device can't have one more. */
  refusal({ id }: Pick<Device, "id">): Reply | undefined {
    if (this.#isDraining) return errorReply("DRAINING");
    const { most, mostPerDevice } = this.#limits;
    const isFull = this.#feeds.size >= most || (this.#perDevice.get(id) ?? 0) >= mostPerDevice;
    return isFull ? errorReply("BUSY", { message: "Too many streams are open; try again later." }) : undefined;
  }

  /** A feed that has not begun. Call `leave` when its connection is gone. */
  join({ id: deviceId }: Pick<Device, "id">, outlet: Outlet, sight: Sight): Feed {
    const feed = new Feed({
      hub: this.#hub,
      clock: this.#clock,
      outlet,
      sight,
      deviceId,
      behindBytes: this.behindBytes,
    });
    this.#feeds.add(feed);
    this.#count(deviceId, 1);
    this.#cancelBeat ??= this.#beatLater();
    return feed;
  }

  leave(feed: Feed): void {
    feed.stop();
    if (!this.#feeds.delete(feed)) return;
    this.#count(feed.deviceId, -1);
    if (this.#feeds.size > 0) return;
    this.#cancelBeat?.();
    this.#cancelCut?.();
    this.#cancelBeat = this.#cancelCut = undefined;
  }

  /** Tells all that the service stops. What still happens is told too. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (const feed of this.#feeds) feed.notice("service-draining", {});
  }

  /** Sends all home: from here on nothing is told. */
  end(): void {
    this.drain();
    for (const feed of this.#feeds) feed.end();
    if (this.#feeds.size > 0) this.#cancelCut ??= this.#clock.after(LEAVE_MS, () => this.#cut());
  }

  /** Whoever is still there is not waited for. */
  #cut(): void {
    for (const feed of this.#feeds) feed.outlet.cut();
  }

  /** Bytes that one reader may leave unread before events are dropped. */
  readonly behindBytes = (): number => Math.min(BEHIND_BYTES, ALL_BEHIND_BYTES / Math.max(1, this.#feeds.size));

  #count(deviceId: string, change: 1 | -1): void {
    const count = (this.#perDevice.get(deviceId) ?? 0) + change;
    if (count === 0) this.#perDevice.delete(deviceId);
    else this.#perDevice.set(deviceId, count);
  }

  #beatLater(): () => void {
    return this.#clock.after(BEAT_MS, () => {
      for (const feed of this.#feeds) feed.beat();
      this.#cancelBeat = this.#feeds.size > 0 ? this.#beatLater() : undefined;
    });
  }
}

// What one reader is told. A reader that is slower than what happens is not told more, so that no memory grows with it; when
// it has read what it was told, it goes on where it stood, from the ring. Only what has left the ring meanwhile is missed,
// and it is told how much that was.

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

// Which events a device may see: an operator all; who may only read, its own turns and what is nobody's alone.

export type Sight = (event: SvcEvent) => boolean;

/** `begun`: ids of the turns that this connection has begun. A token for messages sees nothing else. */
export function sightOf({ scope, clientId }: Device, begun: ReadonlySet<string>): Sight {
  if (scope === "operator") return () => true;
  if (scope === "webhook") return (event) => "turnId" in event && isOwned(event) && begun.has(event.turnId);
  return (event) => (isOwned(event) ? event.owner === clientId : OPEN.has(event.type));
}

/** Not what people write, ask and answer in channels. */
const OPEN: ReadonlySet<SvcEvent["type"]> = new Set([
  "sop-run-start",
  "sop-run-step",
  "sop-run-end",
  "sop-change",
  "channel-health",
  "hardware-changed",
  "safety-request",
  "safety-refuse",
  "safety-stop",
  "safety-reset",
  "voice-state",
]);

type Owned = Extract<SvcEvent, { readonly owner: unknown }>;

const isOwned = (event: SvcEvent): event is Owned => "owner" in event;

// A connection, as a feed writes to it.

export interface Outlet {
  /** Bytes that wait for the client to read. */
  readonly pending: number;
  event(event: StampedEvent): void;
  /** Something that concerns this connection alone, in the form of an event. */
  notice(id: string, type: string, json: string): void;
  /** Now and then: shows each side that the other one is there. `id`: where the reader stands. */
  beat(id: string): void;
  /** Ends it in order. */
  end(): void;
  /** Ends it at once. */
  cut(): void;
}

// Events as bytes: made once for all readers of an event. Most are told of it one after the other; those who come back by the
// hundred, and do not read what they asked for, are all given the same bytes, or each would have a copy of its own in memory.

interface Made {
  sse?: Buffer;
  text?: Buffer;
}

export class Frames {
  /** For as long as somebody remembers the event. */
  readonly #made = new WeakMap<StampedEvent, Made>();
  #event: StampedEvent | undefined;
  #current: Made = {};

  /** For a stream of events. */
  sse(event: StampedEvent): Buffer {
    return (this.#of(event).sse ??= sseFrame(event.id, event.event.type, event.json));
  }

  /** For a WebSocket. */
  text(event: StampedEvent): Buffer {
    return (this.#of(event).text ??= Buffer.from(event.json));
  }

  #of(event: StampedEvent): Made {
    if (this.#event === event) return this.#current;
    this.#event = event;
    this.#current = this.#made.get(event) ?? {};
    this.#made.set(event, this.#current);
    return this.#current;
  }
}

/** JSON has no line breaks, and neither have our ids and types. */
export const sseFrame = (id: string, type: string, json: string): Buffer =>
  Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${json}\n\n`);

/** No event, but where the reader stands: from there it goes on when the connection is lost. */
export const ssePosition = (id: string): string => `id: ${id}\n\n`;
