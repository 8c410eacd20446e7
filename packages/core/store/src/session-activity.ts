/**
 * Conversations by their newest turn. An index of that is two pages which every commit of a turn would write, so the index holds
 * `listed_turn`, which follows `last_turn` some hundred turns at a time. A query adds the conversations that moved since then: those
 * of all turns newer than the newest one in the index.
 */
import type { DatabaseSync } from "node:sqlite";
import { sessionOf, type SessionRow } from "./session-rows.ts";
import type { ListPosition, SessionFilter, SessionSummary } from "./types.ts";

/** Turns after which the index is brought up to date; a query reads the rows of as many. */
const BATCH = 512;

const MOVED = `
  SELECT session FROM turns WHERE n > coalesce(
    (SELECT listed_turn FROM sessions WHERE listed_turn > 0 ORDER BY listed_turn DESC LIMIT 1), 0)`;

export class SessionActivity {
  readonly #update;
  readonly #lists;
  /** Turns since the index was brought up to date, as far as this process knows. */
  #turns = 0;

  constructor(db: DatabaseSync) {
    this.#update = db.prepare(
      `UPDATE sessions SET listed_turn = last_turn WHERE n IN (${MOVED}) AND listed_turn <> last_turn`,
    );
    const list = (which: string, order: string, owner: string) =>
      db.prepare(`
        SELECT * FROM sessions WHERE ${which} AND ${order} < ?1
          AND (?2 IS NULL OR (archived_at IS NOT NULL) = ?2) AND ${owner}
        ORDER BY ${order} DESC LIMIT ?3`);
    const both = (which: string, order: string) => ({
      all: list(which, order, "?4 IS NULL"),
      own: list(which, order, "client_id = ?4"),
    });
    this.#lists = {
      pinned: both("pinned_at IS NOT NULL", "last_turn"),
      moved: both(`n IN (${MOVED}) AND listed_turn <> last_turn AND pinned_at IS NULL`, "last_turn"),
      listed: both("listed_turn > 0 AND listed_turn = last_turn AND pinned_at IS NULL", "listed_turn"),
    };
  }

  /** A turn was stored. */
  stored(): void {
    this.#turns += 1;
  }

  /** Inside a transaction, after its other changes. */
  beforeCommit(): void {
    if (this.#turns >= BATCH) this.update();
  }

  /** Inside a transaction: from here on `listed_turn` is `last_turn`, until the next turn. */
  update(): void {
    this.#update.run();
    this.#turns = 0;
  }

  /** Pinned ones first, then the most recently active. `after`: those that follow this position in the list. */
  list({ clientId, archived }: SessionFilter, limit: number, after?: ListPosition): SessionSummary[] {
    const isArchived = archived === undefined ? null : Number(archived);
    const read = (
      which: "pinned" | "moved" | "listed",
      room: number,
      before = Number.MAX_SAFE_INTEGER,
    ): SessionRow[] => {
      const query = this.#lists[which][clientId === undefined ? "all" : "own"];
      return query.all(before, isArchived, room, clientId ?? null) as unknown as SessionRow[];
    };
    const isBehindPinned = after !== undefined && !after.isPinned;
    const pinned = isBehindPinned ? [] : read("pinned", limit, after?.newestTurn);
    const room = limit - pinned.length;
    const before = isBehindPinned ? after.newestTurn : undefined;
    const others = [...read("moved", room, before), ...read("listed", room, before)];
    others.sort((a, b) => b.last_turn - a.last_turn);
    return [...pinned, ...others.slice(0, room)].map(sessionOf);
  }
}
