/** Opens the database file, on a full disk too: what is kept can be read then, and writes say that the disk is full. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { migrate } from "./migrations.ts";
import { isDiskError } from "./sqlite-error.ts";
import { allowRelease } from "./space.ts";

/** Pages of the write-ahead log after which it is written back, and the size it is cut to then. */
const CHECKPOINT_PAGES = 4000;
const LOG_BYTES = CHECKPOINT_PAGES * 4096;
/** For a lock of another process: at the start, when nobody is served yet, and later, when everybody waits with it. */
const FIRST_LOCK_WAIT_MS = 5000;
const LOCK_WAIT_MS = 1000;

export interface OpenDatabase {
  readonly db: DatabaseSync;
  /** Whether another connection can read it meanwhile. */
  readonly shared: boolean;
  /** The disk did not let it be opened in the usual way. */
  readonly refused: boolean;
}

/** With the newest schema. Throws SQLite's errors and STORE_NEWER; nothing stays open then. */
export function openDatabase(file: string): OpenDatabase {
  if (file === ":memory:") return { db: open(file), shared: false, refused: false };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    return { db: open(file), shared: true, refused: false };
  } catch (error) {
    if (!isDiskError(error)) throw error;
    // With the file to ourselves the index of the log is kept in memory: it is the one thing that opening has to write.
    return { db: open(file, "PRAGMA locking_mode = EXCLUSIVE;"), shared: false, refused: true };
  }
}

function open(file: string, first = ""): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: FIRST_LOCK_WAIT_MS });
  try {
    db.exec(first);
    // It has a say only before the first table, and would be written each time.
    if (isEmpty(db)) db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    // FULL: a commit that was answered survives a power cut. cache_size is in KiB when negative.
    db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
       PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES};`,
    );
    if (migrate(db)) allowRelease(db, file);
    db.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const isEmpty = (db: DatabaseSync): boolean =>
  (db.prepare("PRAGMA page_count").get() as { page_count: number }).page_count === 0;
