/** The durable state of one home: one SQLite file in WAL mode, fsync'd at every commit. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Clock } from "@svc/contract";
import { DeviceStore } from "./devices.ts";
import { GroupCommit } from "./group-commit.ts";
import { IdempotencyStore, type IdempotencyOptions } from "./idempotency.ts";
import { MetaStore } from "./meta.ts";
import { migrate } from "./migrations.ts";
import { SessionStore } from "./sessions.ts";
import { storeError } from "./sqlite-error.ts";
import { ToolCallStore } from "./tool-calls.ts";

export interface StoreOptions {
  /** The database file, or `:memory:`. */
  readonly file: string;
  readonly clock: Clock;
  readonly idempotency: IdempotencyOptions;
}

export interface Store {
  readonly meta: MetaStore;
  readonly devices: DeviceStore;
  readonly idempotency: IdempotencyStore;
  readonly sessions: SessionStore;
  readonly toolCalls: ToolCallStore;
  /** Runs `change` in the next group commit; resolves once it is on disk. Rejects with STORE_FULL or STORE_FAILED. */
  write<T>(change: () => T): Promise<T>;
  /** Commits what is queued and closes the file. */
  close(): void;
}

/** Opens and migrates the database. Throws STORE_NEWER, STORE_FULL or STORE_FAILED. */
export function openStore(options: StoreOptions): Store {
  try {
    return open(options);
  } catch (error) {
    throw storeError(error);
  }
}

function open({ file, clock, idempotency }: StoreOptions): Store {
  if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(file, { timeout: 5000 });
  // FULL: a commit that was answered survives a power cut. cache_size is in KiB when negative.
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = 4000;",
  );
  migrate(db);
  const keys = new IdempotencyStore(db, clock, idempotency);
  const commits = new GroupCommit(db, () => keys.recount());
  return {
    meta: new MetaStore(db, commits),
    devices: new DeviceStore(db, commits),
    idempotency: keys,
    sessions: new SessionStore(db),
    toolCalls: new ToolCallStore(db, clock),
    write: (change) => commits.write(change),
    close: () => {
      commits.flushNow();
      db.close();
    },
  };
}
