/** Every conversation is a chain of turns, from the newest back: each link has to lead to an older turn of its own. */
import type { DatabaseSync } from "node:sqlite";
import { countBroken, PAGE } from "./count-broken.ts";

export interface ChainReport {
  /** Conversations whose newest turn is missing or another's. */
  readonly sessions: number;
  /** Turns that follow one that is missing or another's. */
  readonly turns: number;
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. */
export async function checkChains(db: DatabaseSync, leftMs: () => number): Promise<ChainReport> {
  const sessions = await countBroken(db, BROKEN_SESSIONS, leftMs);
  const turns = await countBroken(db, BROKEN_TURNS, leftMs);
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
