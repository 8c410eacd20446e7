/** Counts what is broken in a table, some rows at a time, so that neither a time limit nor the event loop has to wait. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DatabaseSync } from "node:sqlite";

/** Rows of one step. */
export const PAGE = 5000;

export interface Broken {
  readonly broken: number;
  /** False: the time was up before all rows were looked at. */
  readonly complete: boolean;
}

/**
 * Looks until `leftMs` says that no time is left. `page` is a query of the next `PAGE` rows after the number that it is
 * given: the `last` number among them, and how many are `broken`.
 */
export async function countBroken(db: DatabaseSync, page: string, leftMs: () => number): Promise<Broken> {
  const next = db.prepare(page);
  let broken = 0;
  let after: number | null = 0;
  while (after !== null) {
    if (leftMs() <= 0) return { broken, complete: false };
    const step = next.get(after) as { last: number | null; broken: number };
    broken += step.broken;
    after = step.last;
    await nextTurn();
  }
  return { broken, complete: true };
}
