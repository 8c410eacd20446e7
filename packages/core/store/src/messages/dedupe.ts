/** What is new of a delivery. Ids are remembered over restarts, and for as long as the platform may repeat itself. */
import { DEDUPE_MS } from "@svc/contract";
import type { DatabaseSync } from "node:sqlite";
import type { NewMessage } from "../message-types.ts";
import { hash } from "node:crypto";
import { BLOCK_SIZE, ENTRY_BYTES, SeenBlocks, type SeenEntry, lastExpiry, pack, unpack } from "./seen-blocks.ts";

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

/**
 * Where a platform numbers its messages, none gets in again after its id was forgotten: when it is, its number raises the floor of its
 * lane, and what lies at or below the floor was there before.
 */
class FloorStore {
  readonly #floor;
  readonly #insert;
  readonly #expired;
  readonly #delete;
  readonly #raise;

  constructor(db: DatabaseSync) {
    this.#floor = db.prepare("SELECT 1 FROM floors WHERE lane = ? AND sequence >= ?");
    this.#insert = db.prepare("INSERT INTO sequences (expires_at, sequence, lane) VALUES (?, ?, ?)");
    this.#expired = db.prepare(
      "SELECT n, sequence, lane FROM sequences WHERE expires_at <= ? ORDER BY expires_at LIMIT ?",
    );
    this.#delete = db.prepare("DELETE FROM sequences WHERE n = ?");
    this.#raise = db.prepare(
      "INSERT INTO floors VALUES (?, ?) ON CONFLICT (lane) DO UPDATE SET sequence = max(sequence, excluded.sequence)",
    );
  }

  isBelow(lane: string, sequence: number): boolean {
    return this.#floor.get(lane, sequence) !== undefined;
  }

  /** Inside a transaction. */
  add(lane: string, sequence: number, expiresAtMs: number): void {
    this.#insert.run(expiresAtMs, sequence, lane);
  }

  /** Inside a transaction: raises floors by at most `limit` numbers whose time is over; tells by how many. */
  raise(nowMs: number, limit: number): number {
    const expired = this.#expired.all(nowMs, limit) as { n: number; sequence: number; lane: string }[];
    for (const { n, sequence, lane } of expired) {
      this.#raise.run(lane, sequence);
      this.#delete.run(n);
    }
    return expired.length;
  }
}

/**
 * What was seen before: ids of platforms' messages, and values that may be used once. Ids are random, and in a B-tree each of them would
 * write a page of its own with every commit. So a commit appends its ids in one row, and some thousands of them are kept in memory; then
 * they are written together (the numbers: ../../bench/README.md).
 */
export class SeenStore {
  readonly #blocks: SeenBlocks;
  /** When each is forgotten, by digest: all that is in no block. Undefined until it is asked for. */
  #recent: Map<string, number> | undefined;
  /** Of the open transaction. */
  #added: string[] = [];
  /** Those of them that had been there, and were over. */
  #replaced: SeenEntry[] = [];
  #afterCommit: (() => void) | undefined;
  readonly #all;
  readonly #insert;
  readonly #deleteAll;
  readonly #deleteExpired;

  constructor(db: DatabaseSync) {
    this.#blocks = new SeenBlocks(db);
    this.#all = db.prepare("SELECT entries FROM seen_recent ORDER BY n");
    this.#insert = db.prepare("INSERT INTO seen_recent (expires_at, entries) VALUES (?, ?)");
    this.#deleteAll = db.prepare("DELETE FROM seen_recent");
    this.#deleteExpired = db.prepare(
      `DELETE FROM seen_recent WHERE expires_at <= ? RETURNING octet_length(entries) / ${ENTRY_BYTES} AS ids`,
    );
  }

  /** Inside a transaction: remembers it; tells whether it was new. `even expired`: it is known as long as it is not dropped. */
  add(key: string, nowMs: number, forMs: number, known: "in time" | "even expired" = "in time"): boolean {
    // 128 bits: nobody finds an id that passes for another's.
    const digest = hash("sha256", key, "latin1").slice(0, 16);
    const untilMs = known === "in time" ? nowMs : -Infinity;
    const recent = this.#loaded();
    const expiresAtMs = recent.get(digest);
    if ((expiresAtMs !== undefined && expiresAtMs > untilMs) || this.#blocks.has(digest, untilMs)) return false;
    if (expiresAtMs !== undefined) this.#replaced.push([digest, expiresAtMs]);
    recent.set(digest, nowMs + forMs);
    this.#added.push(digest);
    return true;
  }

  /** Not before it is needed: commands that only read have no use for it. */
  #loaded(): Map<string, number> {
    const rows = (): { entries: Uint8Array }[] => this.#all.all() as { entries: Uint8Array }[];
    return (this.#recent ??= new Map(rows().flatMap(({ entries }) => [...unpack(entries)])));
  }

  /** Before a commit: writes what its transaction added. */
  flush(): void {
    if (this.#added.length === 0) return;
    const recent = this.#loaded();
    if (recent.size < BLOCK_SIZE) return this.#append(this.#added.map((digest) => [digest, recent.get(digest)!]));
    const entries = [...recent];
    const whole = entries.splice(0, entries.length - (entries.length % BLOCK_SIZE));
    const adopt = this.#blocks.seal(whole);
    this.#deleteAll.run();
    if (entries.length > 0) this.#append(entries);
    this.#afterCommit = () => {
      adopt();
      for (const [digest] of whole) recent.delete(digest);
    };
  }

  #append(entries: readonly SeenEntry[]): void {
    this.#insert.run(lastExpiry(entries), pack(entries));
  }

  /** The transaction is on disk. */
  settle(): void {
    this.#afterCommit?.();
    this.#reset();
  }

  /** The transaction was undone. */
  discard(): void {
    for (const digest of this.#added) this.#recent?.delete(digest);
    for (const [digest, expiresAtMs] of this.#replaced) this.#recent?.set(digest, expiresAtMs);
    this.#reset();
  }

  #reset(): void {
    this.#afterCommit = undefined;
    this.#added = [];
    this.#replaced = [];
  }

  /** Inside a transaction: forgets some of those whose time is over; tells how many. 0: there are no more. */
  dropExpired(nowMs: number): number {
    const rows = this.#deleteExpired.all(nowMs) as { ids: number }[];
    // Should the transaction be undone, their time is over all the same.
    for (const [digest, expiresAtMs] of this.#recent ?? []) if (expiresAtMs <= nowMs) this.#recent!.delete(digest);
    return rows.reduce((sum, { ids }) => sum + ids, 0) || this.#blocks.dropExpired(nowMs);
  }
}
