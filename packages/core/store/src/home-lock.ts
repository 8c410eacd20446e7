/**
 * One daemon per home. The lock is SQLite's own file lock on an empty database: the kernel drops it with the process,
 * so even SIGKILL leaves nothing that stops the next start.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SvcError } from "@svc/contract";
import { resultCode } from "./sqlite-error.ts";

const SQLITE_BUSY = 5;

/** Takes the lock or throws ALREADY_RUNNING. Call the result to let go. */
export function lockHome(file: string): () => void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
  } catch (error) {
    db.close();
    if (resultCode(error) !== SQLITE_BUSY) throw error;
    throw new SvcError("ALREADY_RUNNING", undefined, {
      cause: error,
      hint: "End it first, or give this one a home of its own with SVC_HOME.",
    });
  }
  return () => db.close();
}
