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

/** The newest schema. Throws SQLite's errors and STORE_NEWER; nothing stays open then. */
export function openDatabase(file: string): DatabaseSync {
  if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    return open(file, "");
  } catch (error) {
    if (!isDiskError(error)) throw error;
    // With the file to ourselves the index of the log is kept in memory: it is the one thing that opening has to write.
    return open(file, "PRAGMA locking_mode = EXCLUSIVE;");
  }
}

function open(file: string, first: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    // auto_vacuum has a say only before the first table. FULL: a commit that was answered survives a power cut.
    // cache_size is in KiB when negative.
    db.exec(
      `${first} PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
       PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES};`,
    );
    if (migrate(db)) allowRelease(db, file);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
