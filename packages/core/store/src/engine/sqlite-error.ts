/** SQLite's result codes (https://sqlite.org/rescode.html) as our errors. */
import { SvcError } from "@svc/contract";

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

/** STORE_FULL when the disk is full, else STORE_FAILED. An SvcError passes through. */
export function storeError(cause: unknown): SvcError {
  if (cause instanceof SvcError) return cause;
  const full = isFull(cause);
  const why = (cause as { errstr?: unknown } | null)?.errstr;
  // errstr is SQLite's own fixed text for the code ("disk I/O error"); the message of the error may quote data.
  const message = typeof why === "string" && !full ? `The database could not be written: ${why}.` : undefined;
  return new SvcError(full ? "STORE_FULL" : "STORE_FAILED", message, { cause, hint: hintFor(cause, full) });
}

function hintFor(cause: unknown, full: boolean): string {
  if (full) return "Free some space on the disk that holds the home folder.";
  if (isDamage(cause)) {
    return "Restore a backup with svc restore, or move state/svc.db of the home away: svc then begins with an empty one.";
  }
  return "Look at the log; run svc status.";
}

export const isFull = (cause: unknown): boolean =>
  resultCode(cause) === SQLITE_FULL || (cause as NodeJS.ErrnoException | null)?.code === "ENOSPC";

export const isBusy = (cause: unknown): boolean => resultCode(cause) === SQLITE_BUSY;

export const isDamage = (cause: unknown): boolean => DAMAGED.has(resultCode(cause) ?? 0);

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);

/** Not a mistake in one statement: nothing at all can be written. */
export const isDiskError = (cause: unknown): boolean => DISK_ERRORS.has(resultCode(cause) ?? 0);

/** SQLITE_PERM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const DISK_ERRORS: ReadonlySet<number> = new Set([3, 8, 10, 11, 13, 14, 26]);

/** The primary result code of an error thrown by node:sqlite, or undefined. */
function resultCode(cause: unknown): number | undefined {
  const code = (cause as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}
