/** Copies a database while others write to it: what the copy holds is all of one instant. */
import { backup, DatabaseSync } from "node:sqlite";
import { storeError } from "./sqlite-error.ts";

/** More pages than a database can have: copied in one step, so that no write in between starts the copy anew. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * On a connection of its own, in a thread of its own: neither the loop nor a write waits for it. `to` must not exist.
 * Rejects with STORE_FULL or STORE_FAILED.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(from, { readOnly: true, timeout: 5000 });
    await backup(db, to, { rate: ALL_PAGES });
  } catch (error) {
    throw storeError(error);
  } finally {
    db?.close();
  }
}
