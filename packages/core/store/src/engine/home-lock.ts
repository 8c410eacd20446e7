/**
 * One daemon per home. The lock is SQLite's own file lock on an empty database: the kernel drops it with the process,
 * so even SIGKILL leaves nothing that stops the next start.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SvcError } from "@svc/contract";
import { isBusy, isFull, storeError } from "./sqlite-error.ts";

/**
 * Of two that take the lock in one instant each can stand in the other's way. SQLite settles that in a moment, if it
 * may wait at all; else both would be told that the other one is running, and nobody would be.
 */
const SETTLE_MS = 20;

/** Takes the lock or throws ALREADY_RUNNING, HOME_UNWRITABLE or STORE_FULL. Call the result to let go. */
export function lockHome(file: string): () => void {
  let db: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    db = new DatabaseSync(file, { timeout: SETTLE_MS });
    // Its journal in memory: on a full disk a home can still be locked, and read.
    db.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;");
  } catch (error) {
    db?.close();
    throw lockError(file, error);
  }
  return () => db.close();
}

function lockError(file: string, cause: unknown): SvcError {
  if (isBusy(cause)) {
    return new SvcError("ALREADY_RUNNING", undefined, {
      cause,
      hint: "End it first, or give this one a home of its own with SVC_HOME.",
    });
  }
  if (isFull(cause)) return storeError(cause);
  return new SvcError("HOME_UNWRITABLE", `${dirname(file)} can't be written.`, {
    cause,
    hint: "Make it writable for this user, or name another home with SVC_HOME.",
  });
}
