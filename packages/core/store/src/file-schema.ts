/** The schema of a database file that this process does not use. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { schemaVersion } from "./migrations.ts";
import { storeError } from "./sqlite-error.ts";

/** 0: there is no database. A daemon may be writing to it. Throws STORE_FAILED. */
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
