/**
 * Idempotency keys. A key is claimed in memory when its turn starts and becomes a row either with the first acting tool
 * call (so that a crash can't make it new again) or with the end of the turn, in that transaction. A claim whose turn
 * fails before anything acted is released.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "@svc/contract";
import type { Recovery } from "./engine/recovery.ts";
import { storeError } from "./engine/sqlite-error.ts";
import type { IdempotencyClaim } from "./types.ts";

export interface IdempotencyOptions {
  readonly ttlMs: number;
  /** At least 1 is kept. */
  readonly maxKeys: number;
}

export class IdempotencyStore {
  readonly #clock: Clock;
  readonly #recovery: Recovery;
  #ttlMs = 0;
  #maxKeys = 1;
  /** Claimed keys whose turn runs, with the time of the claim: the window counts from there. */
  readonly #running = new Map<string, number>();
  /** Rows on disk; undefined: count again. */
  #rows: number | undefined;
  readonly #find;
  readonly #insert;
  readonly #deleteExpired;
  readonly #deleteSomeExpired;
  readonly #deleteOldest;
  readonly #keys;
  readonly #count;

  constructor(db: DatabaseSync, clock: Clock, recovery: Recovery, options: IdempotencyOptions) {
    this.#clock = clock;
    this.#recovery = recovery;
    this.configure(options);
    this.#find = db.prepare("SELECT expires_at FROM idempotency WHERE scope = ? AND key = ?");
    this.#insert = db.prepare(
      `INSERT INTO idempotency (scope, key, expires_at, turn_id, state) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (scope, key) DO UPDATE
       SET expires_at = excluded.expires_at, turn_id = excluded.turn_id, state = excluded.state`,
    );
    this.#deleteExpired = db.prepare("DELETE FROM idempotency WHERE expires_at <= ?");
    this.#deleteSomeExpired = db.prepare(
      "DELETE FROM idempotency WHERE seq IN (SELECT seq FROM idempotency WHERE expires_at <= ? LIMIT ?)",
    );
    this.#deleteOldest = db.prepare(
      "DELETE FROM idempotency WHERE seq IN (SELECT seq FROM idempotency ORDER BY seq LIMIT ?)",
    );
    this.#keys = db.prepare("SELECT key FROM idempotency ORDER BY seq");
    this.#count = db.prepare("SELECT count(*) AS n FROM idempotency");
  }

  /** From here on; keys that are kept already end when they would have. */
  configure({ ttlMs, maxKeys }: IdempotencyOptions): void {
    this.#ttlMs = ttlMs;
    this.#maxKeys = Math.max(1, maxKeys);
  }

  /** A key that runs, or ended within the window, is a duplicate. Otherwise it is claimed. Throws STORE_FULL, STORE_FAILED. */
  claim(claim: IdempotencyClaim): "new" | "duplicate" {
    this.#recover();
    const now = this.#clock.now();
    const keys = keysOf(claim);
    if (keys.some((key) => this.#isTaken(claim.scope, key, now))) return "duplicate";
    for (const key of keys) this.#running.set(idOf(claim.scope, key), now);
    return "new";
  }

  #isTaken(scope: string, key: string, now: number): boolean {
    if (this.#running.has(idOf(scope, key))) return true;
    const row = this.#find.get(scope, key) as { expires_at: number } | undefined;
    return row !== undefined && now < row.expires_at;
  }

  /** The claim ends: the row on disk, if the turn left one, decides from now on. */
  release(claim: IdempotencyClaim): void {
    for (const key of keysOf(claim)) this.#running.delete(idOf(claim.scope, key));
  }

  /** Inside a transaction: writes the key's row, and drops what is expired or over the limit, oldest first. */
  keep(claim: IdempotencyClaim, turnId: string, state: "running" | "done"): void {
    const now = this.#clock.now();
    const ttlMs = Math.max(this.#ttlMs, claim.minTtlMs ?? 0);
    let rows = this.#rows ?? (this.#count.get() as { n: number }).n;
    for (const key of keysOf(claim)) {
      if (this.#find.get(claim.scope, key) === undefined) rows += 1;
      const claimedAt = this.#running.get(idOf(claim.scope, key)) ?? now;
      this.#insert.run(claim.scope, key, claimedAt + ttlMs, turnId, state);
    }
    if (rows > this.#maxKeys) rows -= Number(this.#deleteExpired.run(now).changes);
    if (rows > this.#maxKeys) rows -= Number(this.#deleteOldest.run(rows - this.#maxKeys).changes);
    this.#rows = rows;
  }

  /** Inside a transaction: deletes at most `limit` keys whose window is over; tells how many. */
  dropExpired(nowMs: number, limit: number): number {
    const dropped = Number(this.#deleteSomeExpired.run(nowMs, limit).changes);
    if (this.#rows !== undefined) this.#rows -= dropped;
    return dropped;
  }

  /** A transaction was undone: what was counted in it does not hold. */
  recount(): void {
    this.#rows = undefined;
  }

  /** Keys on disk, oldest first. */
  storedKeys(): string[] {
    return (this.#keys.all() as { key: string }[]).map((row) => row.key);
  }

  /** Until the last process's keys are judged, none can be told to be new: not when the disk was full at start. */
  #recover(): void {
    try {
      this.#recovery.ensure();
    } catch (error) {
      throw storeError(error);
    }
  }
}

const idOf = (scope: string, key: string): string => `${scope}\n${key}`;

const keysOf = ({ key, also }: IdempotencyClaim): readonly string[] => (also === undefined ? [key] : [key, also]);
