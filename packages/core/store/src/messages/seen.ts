/** What was seen before: ids of platforms' messages, and values that may be used once. */
import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";

export class SeenStore {
  readonly #find;
  readonly #insert;
  readonly #deleteExpired;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare("SELECT 1 FROM seen WHERE key = ? AND expires_at > ?");
    this.#insert = db.prepare(
      "INSERT INTO seen VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at",
    );
    this.#deleteExpired = db.prepare(
      "DELETE FROM seen WHERE key IN (SELECT key FROM seen WHERE expires_at <= ? LIMIT ?)",
    );
  }

  /** Inside a transaction: remembers it; tells whether it was new. `even expired`: as long as it is not dropped. */
  add(key: string, nowMs: number, forMs: number, known: "in time" | "even expired" = "in time"): boolean {
    const digest = hash("sha256", key, "buffer").subarray(0, 16);
    if (this.#find.get(digest, known === "in time" ? nowMs : -Infinity) !== undefined) return false;
    this.#insert.run(digest, nowMs + forMs);
    return true;
  }

  /** Inside a transaction: forgets at most `limit` whose time is over; tells how many. */
  dropExpired(nowMs: number, limit: number): number {
    return Number(this.#deleteExpired.run(nowMs, limit).changes);
  }
}
