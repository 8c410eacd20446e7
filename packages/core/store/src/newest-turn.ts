/** When the newest turn was kept. Reads on a connection of its own, so a daemon may be running on the file. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Milliseconds since the epoch; undefined when there is no turn, or the file can't be read. */
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
