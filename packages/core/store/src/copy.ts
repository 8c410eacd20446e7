/** Copies a database while it is written to. What the copy holds is all of one instant, in one file. */
import { backup, DatabaseSync } from "node:sqlite";
import { storeError } from "./sqlite-error.ts";

/** More than a database can have: all pages are copied in one step, so that no write in between starts the copy anew. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * With a connection of its own, in a thread of its own: neither the event loop nor a write waits for it. `to` must not
 * exist. Rejects with STORE_FULL or STORE_FAILED.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  try {
    const db = new DatabaseSync(from, { readOnly: true, timeout: 5000 });
    try {
      await backup(db, to, { rate: ALL_PAGES });
    } finally {
      db.close();
    }
    asOneFile(to);
  } catch (error) {
    throw storeError(error);
  }
}

/** Where nobody else can open the database: some pages at a time, and each write waits for those. */
export async function copyOpen(db: DatabaseSync, to: string): Promise<void> {
  try {
    await backup(db, to);
    asOneFile(to);
  } catch (error) {
    throw storeError(error);
  }
}

/**
 * The copy says of itself that it has a log beside it, and whoever looks at it would make one. Sign-ins of the page stay
 * behind: one that was ended since must not come back with a backup.
 */
function asOneFile(file: string): void {
  const db = new DatabaseSync(file);
  try {
    if (hasPageSessions(db)) db.exec("DELETE FROM page_sessions");
    db.exec("PRAGMA journal_mode = DELETE");
  } finally {
    db.close();
  }
}

/** A home that was not opened since an older svc has no such table. */
const hasPageSessions = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'page_sessions'").get() !== undefined;
