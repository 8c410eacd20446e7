/** Opening the crypto store's SQLite file, and what can be wrong with it. */
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SvcError } from "@svc/contract";

/** Made when it is missing and `create`, for its owner alone. Throws STORE_FAILED when missing, else errors of SQLite and node:fs. */
export function openSqlite(path: string, create: boolean, timeout: number): DatabaseSync {
  if (!existsSync(path)) {
    if (!create) throw missing(path);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite would make it open to others, and gives its log the mode of the file.
    closeSync(openSync(path, "wx", 0o600));
    syncFolder(dirname(path));
  }
  chmodSync(path, 0o600);
  const db = new DatabaseSync(path, { timeout, defensive: true });
  try {
    // FULL: a commit that was reported survives a power cut. cache_size is in KiB when negative.
    db.exec(`PRAGMA trusted_schema = OFF; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      PRAGMA cache_size = -1024; PRAGMA journal_size_limit = 4194304`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const SQLITE_FULL = 13;

/** Errors of SQLite (https://sqlite.org/rescode.html) and of the file system. */
export function storeError(cause: unknown, path: string): SvcError {
  if (cause instanceof SvcError) return cause;
  const { errcode, code } = cause as { errcode?: number; code?: string };
  if ((errcode ?? 0) % 256 === SQLITE_FULL || code === "ENOSPC") {
    return new SvcError("STORE_FULL", undefined, {
      cause,
      hint: "Free some space on the disk that holds the home folder.",
    });
  }
  return damagedBy(cause, path);
}

/** SQLITE_CORRUPT, SQLITE_NOTADB, and SQLITE_ERROR for a table that is not there. */
const DAMAGED: ReadonlySet<number> = new Set([1, 11, 26]);

/** The message of an error of SQLite may quote data; `errstr` is a fixed text. What comes of neither disk nor SQLite is damage. */
export function damagedBy(cause: unknown, path: string): SvcError {
  const { errcode, errstr, syscall } = cause as { errcode?: number; errstr?: string; syscall?: string };
  if (errcode === undefined ? syscall === undefined : DAMAGED.has(errcode % 256)) return altered(path, cause);
  const why = errstr ?? (cause as { code?: unknown }).code;
  return new SvcError("STORE_FAILED", `The crypto store ${path} can't be used: ${String(why)}.`, {
    cause,
    hint: "Look at the disk and the permissions of this file.",
  });
}

const RESTORE = "Restore a backup with svc restore, or set the channel up anew: svc channels setup federated.";

export const missing = (path: string): SvcError =>
  new SvcError("STORE_FAILED", `The crypto store ${path} is missing.`, { hint: RESTORE });

export const altered = (path: string, cause?: unknown): SvcError =>
  new SvcError("STORE_FAILED", `The crypto store ${path} is damaged, or was altered.`, { cause, hint: RESTORE });

export const otherKey = (path: string, cause: unknown): SvcError =>
  new SvcError("SECRET_UNREADABLE", `The crypto store ${path} can't be opened with this home's key.`, {
    cause,
    hint: RESTORE,
  });

export const usedByAnother = (path: string): SvcError =>
  new SvcError("STORE_FAILED", `Another process has written to the crypto store ${path}.`, {
    hint: "Stop the other process, then: svc restart",
  });
