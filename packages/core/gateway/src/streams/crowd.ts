/**
 * Everybody who is told of events as they happen. There is a most of them, all and of one device; now and then each is shown
 * that we are there, who does not read is cut, and when the service stops all are told so and sent home.
 */
import type { Clock } from "@svc/contract";
import type { EventHub } from "@svc/kernel";
import type { Device } from "@svc/store";
import { errorReply, type Reply } from "../http/reply.ts";
import { Feed } from "./feed.ts";
import { Frames } from "./frames.ts";
import type { Outlet } from "./outlet.ts";
import type { Sight } from "./sight.ts";

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
