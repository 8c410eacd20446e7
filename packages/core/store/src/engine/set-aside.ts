/** A database that comes out of a backup: what waited in it may have been answered and sent since. */
import { existsSync } from "node:fs";
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

/** Asked between the look at the database in force and the moment when the restored one takes its place; or by another machine since. */
const ASKED_SINCE = 100;

/**
 * Approvals of the restored `file` go on behind those of the database `inForce`. People and buttons call an approval by its number: a
 * button of a question asked after the backup must not answer another question. Throws STORE_*.
 */
export function skipApprovalNumbers(file: string, inForce: string): void {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { defensive: true });
    db.exec("PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL; BEGIN IMMEDIATE");
    const next = Math.max(lastApproval(db), lastApprovalOf(inForce)) + ASKED_SINCE;
    db.exec("DELETE FROM sqlite_sequence WHERE name = 'approvals'");
    db.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('approvals', ?)").run(next);
    db.exec("COMMIT");
  } catch (error) {
    throw storeError(error);
  } finally {
    db?.close();
  }
}

function lastApprovalOf(file: string): number {
  if (!existsSync(file)) return 0;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    return lastApproval(db);
  } catch {
    return 0; // damaged: that is why a backup is restored
  } finally {
    db?.close();
  }
}

function lastApproval(db: DatabaseSync): number {
  const row = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'approvals'").get();
  return Number.isSafeInteger(row?.["seq"]) ? Number(row?.["seq"]) : 0;
}

function dropWaiting(db: DatabaseSync, box: "inbox" | "outbox", which: string, nowMs: number): number {
  const waiting = `SELECT n, channel, 'dropped', attempts, error, ? FROM ${box}_open JOIN ${box} USING (n) WHERE ${which}`;
  const dropped = db
    .prepare(`INSERT INTO ${box}_ended (n, channel, state, attempts, error, ended_at) ${waiting}`)
    .run(nowMs);
  db.exec(`DELETE FROM ${box}_open WHERE n IN (SELECT n FROM ${box}_ended)`);
  return Number(dropped.changes);
}
