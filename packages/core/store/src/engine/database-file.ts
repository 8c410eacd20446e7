/** Facts of a database file that is not opened as a store. Each reads on a connection of its own, so a daemon may be running on the file. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { type DeviceRow, deviceOf } from "../devices/devices.ts";
import type { Device } from "../types.ts";
import { schemaVersion } from "./migrations.ts";
import { storeError } from "./sqlite-error.ts";
import { rowsOf } from "../rows.ts";

/** Devices, sign-ins and stored secrets. */
export interface Paired {
  /** In the order in which they were paired. */
  readonly devices: readonly Device[];
  /** Sign-ins of pages that have not ended for want of a request. */
  readonly pageSessions: number;
  /** How many secrets each feature keeps, by its id. */
  readonly secretCounts: ReadonlyMap<string, number>;
}

const NOTHING_PAIRED: Paired = { devices: [], pageSessions: 0, secretCounts: new Map() };

/** `oldestSeenMs`: a page that was last seen before is signed out. Undefined: the file can't be read, or is of another version. A missing file has no devices. */
export function readPaired(file: string, oldestSeenMs: number): Paired | undefined {
  if (!existsSync(file)) return NOTHING_PAIRED;
  try {
    // It may come out of somebody's backup: nothing in its schema may run. A lock is not waited for long.
    const db = new DatabaseSync(file, { readOnly: true, timeout: 100, defensive: true });
    try {
      const devices = rowsOf<DeviceRow>(db.prepare("SELECT * FROM devices ORDER BY created_at").all());
      const signIns = db.prepare("SELECT count(*) AS n FROM page_sessions WHERE seen_at > ?").get(oldestSeenMs);
      const secretCounts = db.prepare("SELECT owner, count(*) AS n FROM vault GROUP BY owner").all();
      return {
        devices: devices.map(deviceOf),
        pageSessions: Number(signIns?.["n"]),
        secretCounts: new Map(secretCounts.map((row) => [String(row["owner"]), Number(row["n"])])),
      };
    } finally {
      db.close();
    }
  } catch {
    // Damaged, or no database of ours: the check of the database says so.
    return undefined;
  }
}

/** When the newest turn was stored. Milliseconds since the epoch; undefined when there is no turn, or the file can't be read. */
export function newestTurnMs(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 100 });
    try {
      const row = db.prepare("SELECT at FROM turns ORDER BY n DESC LIMIT 1").get() as { at: number } | undefined;
      return row?.at;
    } finally {
      db.close();
    }
  } catch {
    // Damaged, or no database of ours: the check of the database says so.
    return undefined;
  }
}

/** The schema of a database that this process does not use. 0: there is no database. A daemon may be writing to it. Throws STORE_FAILED. */
export function schemaOfFile(file: string): number {
  if (!existsSync(file)) return 0;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    return schemaVersion(db);
  } catch (error) {
    throw storeError(error);
  } finally {
    db?.close();
  }
}
