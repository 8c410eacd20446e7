/** What ended long ago is deleted, a little in each step. */
import type { DatabaseSync } from "node:sqlite";
import type { BoxShape, Tally } from "./box.ts";

/** Most of one step: the pages of what is deleted are read. */
const STEP = { walked: 5000, rows: 200, bytes: 1_048_576 } as const;

export interface OldPage {
  readonly numbers: readonly number[];
  /** Where the next page begins; undefined: this was the last. */
  readonly next: number | undefined;
}

/**
 * Walks all that have ended, in the order of their numbers: that is cheaper than an index by time, which every end would
 * have to write.
 */
export class OldMessageSweep {
  readonly #shape: BoxShape;
  readonly #tally: Tally;
  readonly #bounds;
  readonly #old;
  readonly #deleteEnd;
  readonly #deleteMessage;

  constructor(db: DatabaseSync, shape: BoxShape, tally: Tally) {
    const { table, text } = shape;
    this.#shape = shape;
    this.#tally = tally;
    this.#bounds = db.prepare(`SELECT (SELECT min(n) FROM ${table}) AS first, (SELECT max(n) FROM ${table}) AS last`);
    // In a damaged database an end may belong to no message; the others go all the same.
    this.#old = db.prepare(
      `SELECT n, coalesce(octet_length(${text}), 0) AS size FROM ${table}_ended LEFT JOIN ${table} USING (n)
       WHERE n >= ? AND n < ? AND ended_at < ? ORDER BY n LIMIT ${STEP.rows}`,
    );
    this.#deleteEnd = db.prepare(`DELETE FROM ${table}_ended WHERE n = ? AND ended_at < ? RETURNING state`);
    this.#deleteMessage = db.prepare(`DELETE FROM ${table} WHERE n = ? RETURNING turn_id AS turnId`);
  }

  /** Some of those that ended before `beforeMs`, from the number `from` on: as many as one transaction may delete. */
  page(beforeMs: number, from: number): OldPage {
    const { first, last } = this.#bounds.get() as { first: number | null; last: number | null };
    // The newest stays, or its number would be given to the next one.
    const start = Math.max(from, first ?? 0);
    const end = Math.min(start + STEP.walked, last ?? 0);
    const old = this.#old.all(start, end, beforeMs) as { n: number; size: number }[];
    const numbers: number[] = [];
    let bytes = 0;
    for (const { n, size } of old) {
      numbers.push(n);
      bytes += size;
      if (bytes > STEP.bytes) break;
    }
    const isAll = numbers.length === old.length && old.length < STEP.rows;
    const next = isAll ? end : numbers.at(-1)! + 1;
    return { numbers, next: next < (last ?? 0) ? next : undefined };
  }

  /** Inside a transaction. Those that were taken up again meanwhile stay. Returns the turns of those that went. */
  delete(numbers: readonly number[], beforeMs: number): GoneMessage[] {
    return numbers.flatMap((n) => {
      const end = this.#deleteEnd.get(n, beforeMs) as { state: string } | undefined;
      if (!end) return [];
      if (end.state === this.#shape.well) this.#tally.add(this.#shape.table, -1);
      const gone = this.#deleteMessage.get(n) as { turnId: string | null } | undefined;
      return [{ n, turnId: gone?.turnId ?? null }];
    });
  }
}

interface GoneMessage {
  readonly n: number;
  readonly turnId: string | null;
}
