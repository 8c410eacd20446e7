/** A database that comes out of a backup: what waited in it may have been answered and sent since. */
import { DatabaseSync } from "node:sqlite";
import type { Clock } from "@svc/contract";
import { FIRST_WITH_MESSAGES, schemaVersion } from "./migrations.ts";
import { storeError } from "./sqlite-error.ts";

export interface SetAside {
  /** That came in and were not answered. */
  readonly messages: number;
  /** That were to go out. */
  readonly deliveries: number;
}

/**
 * Drops what waits, with its reasons and attempts as they are; it can be replayed. Notices stay: a channel looks after what
 * they tell of, however often it is told. For a file that is sound and that nobody has open. Throws STORE_*.
 */
export function setAsideWaiting(file: string, clock: Pick<Clock, "now">): SetAside {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { defensive: true });
    db.exec("PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL;");
    if (schemaVersion(db) < FIRST_WITH_MESSAGES) return { messages: 0, deliveries: 0 };
    db.exec("BEGIN IMMEDIATE");
    const messages = dropWaiting(db, "inbox", "kind = 'message'", clock.now());
    const deliveries = dropWaiting(db, "outbox", "TRUE", clock.now());
    db.exec("COMMIT");
    return { messages, deliveries };
  } catch (error) {
    throw storeError(error);
  } finally {
    // What was begun and not committed is undone.
    db?.close();
  }
}

function dropWaiting(db: DatabaseSync, box: "inbox" | "outbox", which: string, nowMs: number): number {
  const waiting = `SELECT n, channel, 'dropped', attempts, error, ? FROM ${box}_open JOIN ${box} USING (n) WHERE ${which}`;
  const dropped = db
    .prepare(`INSERT INTO ${box}_ended (n, channel, state, attempts, error, ended_at) ${waiting}`)
    .run(nowMs);
  db.exec(`DELETE FROM ${box}_open WHERE n IN (SELECT n FROM ${box}_ended)`);
  return Number(dropped.changes);
}
