/** What ended long ago is deleted, a little in each step. */
import type { DatabaseSync } from "node:sqlite";
import type { BoxShape } from "./box.ts";
import type { Tally } from "./tally.ts";

/** Most of one step: the pages of what is deleted are read. */
const STEP = { walked: 5000, rows: 200, bytes: 1_048_576 } as const;

export interface GoneMessage {
  readonly n: number;
  readonly turnId: string | null;
}

export interface OldMessages {
  readonly gone: readonly GoneMessage[];
  /** Where the next step goes on; undefined: this was the last. */
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
    this.#old = db.prepare(
      `SELECT n FROM ${table}_ended WHERE n >= ? AND n < ? AND ended_at < ? ORDER BY n LIMIT ${STEP.rows}`,
    );
    this.#deleteEnd = db.prepare(`DELETE FROM ${table}_ended WHERE n = ? RETURNING state`);
    this.#deleteMessage = db.prepare(
      `DELETE FROM ${table} WHERE n = ? RETURNING turn_id AS turnId, octet_length(${text}) AS size`,
    );
  }

  /** Inside a transaction: deletes some of those that ended before `beforeMs`, from the number `from` on. */
  step(beforeMs: number, from: number): OldMessages {
    const { first, last } = this.#bounds.get() as { first: number | null; last: number | null };
    // The newest stays, or its number would be given to the next one.
    const start = Math.max(from, first ?? 0);
    const end = Math.min(start + STEP.walked, last ?? 0);
    const old = this.#old.all(start, end, beforeMs) as { n: number }[];
    const gone: GoneMessage[] = [];
    let bytes = 0;
    for (const { n } of old) {
      const { turnId, size } = this.#delete(n);
      gone.push({ n, turnId });
      bytes += size;
      if (bytes > STEP.bytes) break;
    }
    const isAll = gone.length === old.length && old.length < STEP.rows;
    const next = isAll ? end : gone.at(-1)!.n + 1;
    return { gone, next: next < (last ?? 0) ? next : undefined };
  }

  #delete(n: number): { turnId: string | null; size: number } {
    const { state } = this.#deleteEnd.get(n) as { state: string };
    if (state === this.#shape.well) this.#tally.add(this.#shape.table, -1);
    const gone = this.#deleteMessage.get(n) as { turnId: string | null; size: number } | undefined;
    // In a damaged database an end may belong to no message; the others go all the same.
    return gone ?? { turnId: null, size: 0 };
  }
}
