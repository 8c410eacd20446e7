/** What is new of a delivery. Ids are remembered over restarts, and for as long as the platform may repeat itself. */
import { DEDUPE_MS } from "@svc/contract";
import type { DatabaseSync } from "node:sqlite";
import type { NewMessage } from "../message-types.ts";
import { FloorStore } from "./floors.ts";
import { SeenStore } from "./seen.ts";

/** Floors raised in one step of retention. */
const STEP = 500;

export class Dedupe {
  readonly seen: SeenStore;
  readonly #floors: FloorStore;

  constructor(db: DatabaseSync) {
    this.seen = new SeenStore(db);
    this.#floors = new FloorStore(db);
  }

  /** Inside a transaction: tells whether the value was not used before; from here on it is. */
  use(channel: string, once: string, nowMs: number): boolean {
    return this.seen.add(keyOf("once", channel, once), nowMs, DEDUPE_MS);
  }

  /** Inside a transaction: tells whether the message was not seen before; from here on it is. */
  isNew(channel: string, { lane, dedupe }: NewMessage, nowMs: number): boolean {
    if (dedupe === undefined) return true;
    const { key, forMs, sequence } = dedupe;
    const id = keyOf("id", channel, key);
    if (sequence === undefined) return this.seen.add(id, nowMs, forMs);
    const place = keyOf("lane", channel, lane);
    // An id whose time is over is known until its number has raised the floor: there is no instant between the two.
    if (this.#floors.isBelow(place, sequence) || !this.seen.add(id, nowMs, forMs, "even expired")) return false;
    this.#floors.add(place, sequence, nowMs + forMs);
    return true;
  }

  /** Inside a transaction: raises some of the floors that have to be raised before ids are forgotten; tells how many. */
  raiseFloors(nowMs: number): number {
    return this.#floors.raise(nowMs, STEP);
  }

  /** Inside a transaction: forgets some of the ids whose time is over; tells how many. */
  forget(nowMs: number): number {
    this.#floors.raise(nowMs, Number.MAX_SAFE_INTEGER);
    return this.seen.dropExpired(nowMs);
  }
}

/** No two of them are the same text, for the id of a channel has no line break in it. */
const keyOf = (kind: "once" | "id" | "lane", channel: string, text: string): string => `${kind}\n${channel}\n${text}`;
