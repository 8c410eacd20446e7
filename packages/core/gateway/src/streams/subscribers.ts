/**
 * Subscribers of events over SSE and WebSocket. Their number is bounded, in all and per device. Each gets heartbeats; one that
 * does not read is cut; when the service stops all get a notice and are disconnected.
 */
import type { Clock, SvcEvent } from "@svc/contract";
import {
  type DropReason,
  type EventHub,
  type StampedEvent,
  type Subscriber,
  type Subscription,
  timestamp,
} from "@svc/runtime";
import type { Device } from "@svc/store";
import { errorReply, type Reply } from "../http/reply.ts";

/** One reader of a stream: of the service's events, or of a feature's route. */
export interface OpenStream {
  readonly deviceId: string;
  /** Sends a notice, which is no event. A reader that lags does not get it. */
  notice(type: string, payload: object): void;
  /** Called regularly: sends a sign of life, and cuts a reader that does not read. */
  beat(): void;
  /** Sends nothing more. */
  stop(): void;
  /** Ends the stream after what was sent. */
  end(): void;
  /** Ends the connection at once. */
  cut(): void;
}

export interface SubscriberLimits {
  readonly most: number;
  /** One device that opens all it can must leave room for the others. */
  readonly mostPerDevice: number;
}

/** A stream takes some 18 kB; any connection of `node:http` takes 17. */
const LIMITS: SubscriberLimits = { most: 12_000, mostPerDevice: 10_000 };
/** What may be unread of one reader, and less of each where there are many: an event of a hundred bytes takes three times as much. */
const BEHIND_BYTES = 256 * 1024;
const ALL_BEHIND_BYTES = 32 * 1_048_576;
const BEAT_MS = 15_000;
/** How long a subscriber may take to disconnect when asked to. */
const LEAVE_MS = 1_000;

export class SubscriberRegistry {
  readonly frames = new Frames();
  readonly #hub: EventHub;
  readonly #clock: Clock;
  readonly #limits: SubscriberLimits;
  readonly #streams = new Set<OpenStream>();
  readonly #perDevice = new Map<string, number>();
  #cancelBeat: (() => void) | undefined;
  #cancelCut: (() => void) | undefined;
  #isDraining = false;

  constructor(hub: EventHub, clock: Clock, limits: SubscriberLimits = LIMITS) {
    this.#hub = hub;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Why a device can't have one more. */
  refusal({ id }: Pick<Device, "id">): Reply | undefined {
    if (this.#isDraining) return errorReply("DRAINING");
    const { most, mostPerDevice } = this.#limits;
    const isFull = this.#streams.size >= most || (this.#perDevice.get(id) ?? 0) >= mostPerDevice;
    return isFull ? errorReply("BUSY", { message: "Too many streams are open; try again later." }) : undefined;
  }

  /** A feed that has not begun. Call `leave` when its connection is gone. */
  join({ id: deviceId }: Pick<Device, "id">, sink: EventSink, filter: EventFilter): Feed {
    const feed = new Feed({
      hub: this.#hub,
      clock: this.#clock,
      sink,
      filter,
      deviceId,
      behindBytes: this.behindBytes,
    });
    this.add(feed);
    return feed;
  }

  /** Takes a place. Call `leave` when its connection is gone. */
  add(stream: OpenStream): void {
    this.#streams.add(stream);
    this.#count(stream.deviceId, 1);
    this.#cancelBeat ??= this.#beatLater();
  }

  leave(stream: OpenStream): void {
    stream.stop();
    if (!this.#streams.delete(stream)) return;
    this.#count(stream.deviceId, -1);
    if (this.#streams.size > 0) return;
    this.#cancelBeat?.();
    this.#cancelCut?.();
    this.#cancelBeat = this.#cancelCut = undefined;
  }

  /** Notifies all that the service stops. Later events are still sent. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (const stream of this.#streams) stream.notice("service-draining", {});
  }

  /** Disconnects all: no further event is sent. */
  end(): void {
    this.drain();
    for (const stream of this.#streams) stream.end();
    if (this.#streams.size > 0) this.#cancelCut ??= this.#clock.after(LEAVE_MS, () => this.#cut());
  }

  /** Cuts the subscribers that have not disconnected in time. */
  #cut(): void {
    for (const stream of this.#streams) stream.cut();
  }

  /** Bytes that one reader may leave unread before events are dropped. */
  readonly behindBytes = (): number => Math.min(BEHIND_BYTES, ALL_BEHIND_BYTES / Math.max(1, this.#streams.size));

  #count(deviceId: string, change: 1 | -1): void {
    const count = (this.#perDevice.get(deviceId) ?? 0) + change;
    if (count === 0) this.#perDevice.delete(deviceId);
    else this.#perDevice.set(deviceId, count);
  }

  #beatLater(): () => void {
    return this.#clock.after(BEAT_MS, () => {
      for (const stream of this.#streams) stream.beat();
      this.#cancelBeat = this.#streams.size > 0 ? this.#beatLater() : undefined;
    });
  }
}

// The events of one reader. A slow reader gets no further events, so that no memory grows with it. Once it has caught up, it
// continues from the ring where it stopped. It misses only the events that have left the ring, and gets their number.

/** A reader that has not caught up for so long is not reading. */
export const STUCK_MS = 60_000;

export interface FeedDeps {
  readonly hub: EventHub;
  readonly clock: Clock;
  readonly sink: EventSink;
  readonly filter: EventFilter;
  readonly deviceId: string;
  /** With more than this unread nothing is written. */
  readonly behindBytes: () => number;
}

export class Feed implements Subscriber, OpenStream {
  readonly deviceId: string;
  readonly sink: EventSink;
  readonly #hub: EventHub;
  readonly #clock: Clock;
  readonly #filter: EventFilter;
  readonly #behindBytes: () => number;
  #subscription: Subscription | undefined;
  /** Number of the newest event that it was told, or need not be told. */
  #at: number;
  #behindSinceMs: number | undefined;
  /** Where it asked to go on while it did not read. */
  #wanted: string | undefined;
  #isCatchingUp = false;
  #isOver = false;

  constructor({ hub, clock, sink, filter, deviceId, behindBytes }: FeedDeps) {
    this.#hub = hub;
    this.#clock = clock;
    this.#filter = filter;
    this.#behindBytes = behindBytes;
    this.#at = hub.n;
    this.sink = sink;
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
    if (!this.#filter(event.event)) return;
    this.sink.event(event);
    if (this.sink.pending <= this.#behindBytes()) return;
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

  notice(type: string, payload: object): void {
    if (this.#behindSinceMs !== undefined || this.#isOver) return;
    const { position: id } = this;
    const json = JSON.stringify({ id, type, timestamp: timestamp(this.#clock.now()), payload });
    this.sink.notice(id, type, json);
  }

  beat(): void {
    if (this.#isOver) return;
    if (this.#behindSinceMs === undefined) this.sink.beat(this.position);
    else if (this.#clock.monotonic() - this.#behindSinceMs >= STUCK_MS) this.sink.cut();
  }

  end(): void {
    this.stop();
    if (this.#behindSinceMs === undefined) this.sink.end();
    else this.sink.cut();
  }

  stop(): void {
    this.#isOver = true;
    this.#subscription?.end();
  }

  cut(): void {
    this.sink.cut();
  }
}

// Which events a device may see: an operator all; scope read, those of its own turns and those without an owner.

export type EventFilter = (event: SvcEvent) => boolean;

/** `begun`: ids of the turns that this connection has begun. A token for messages sees nothing else. */
export function eventFilterFor({ scope, clientId }: Device, begun: ReadonlySet<string>): EventFilter {
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

export interface EventSink {
  /** Bytes that wait for the client to read. */
  readonly pending: number;
  event(event: StampedEvent): void;
  /** Something that concerns this connection alone, in the form of an event. */
  notice(id: string, type: string, json: string): void;
  /** Now and then: shows each side that the other one is there. `id`: where the reader stands. */
  beat(id: string): void;
  /** Ends the stream after what was sent. */
  end(): void;
  /** Ends the connection at once. */
  cut(): void;
}

// Events as bytes: serialized once for all readers. Hundreds of readers that reconnect and do not read share the same bytes;
// otherwise each would hold its own copy in memory.

interface Made {
  sse?: Buffer;
  text?: Buffer;
}

export class Frames {
  /** Cached as long as the event itself is referenced. */
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
