/** Every conversation is a chain of turns, from the newest back: each link has to lead to an older turn of its own. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DatabaseSync } from "node:sqlite";

/** Rows of one step. */
const PAGE = 5000;

export interface ChainReport {
  /** Conversations whose newest turn is missing or another's. */
  readonly sessions: number;
  /** Turns that follow one that is missing or another's. */
  readonly turns: number;
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. */
export async function checkChains(db: DatabaseSync, leftMs: () => number): Promise<ChainReport> {
  const sessions = await count(db, BROKEN_SESSIONS, leftMs);
  const turns = await count(db, BROKEN_TURNS, leftMs);
  return { sessions: sessions.broken, turns: turns.broken, complete: sessions.complete && turns.complete };
}

const BROKEN_SESSIONS = `
  SELECT max(s.n) AS last, total(t.session IS NOT s.n) AS broken
  FROM (SELECT n, last_turn FROM sessions WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS s
  LEFT JOIN turns AS t ON t.n = s.last_turn`;

const BROKEN_TURNS = `
  SELECT max(t.n) AS last, total(t.previous IS NOT NULL AND (p.session IS NOT t.session OR p.n >= t.n)) AS broken
  FROM (SELECT n, session, previous FROM turns WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS t
  LEFT JOIN turns AS p ON p.n = t.previous`;

async function count(
  db: DatabaseSync,
  page: string,
  leftMs: () => number,
): Promise<{ broken: number; complete: boolean }> {
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
