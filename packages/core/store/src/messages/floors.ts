/**
 * Where a platform numbers its messages, none gets in again after its id was forgotten: when it is, its number raises the
 * floor of its lane, and what lies at or below the floor was there before.
 */
import type { DatabaseSync } from "node:sqlite";

export class FloorStore {
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
