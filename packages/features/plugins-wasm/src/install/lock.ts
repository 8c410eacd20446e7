/**
 * One change of the plugins at a time, over all processes. The lock is SQLite's own file lock on an empty database, which the
 * system drops with the process, so that a killed install stops no other.
 */
import { join } from "node:path";
import { type Clock, SvcError } from "@svc/contract";

const SQLITE_BUSY = 5;
const RETRY_MS = 20;
/** A change writes at most 20 MiB; nobody is asked and nothing is fetched meanwhile. */
const LONGEST_MS = 30_000;

/** Throws BUSY when others change the plugins all the time. */
export async function withPluginLock<T>(
  pluginsFolder: string,
  clock: Pick<Clock, "monotonic" | "sleep">,
  signal: AbortSignal,
  change: () => Promise<T>,
): Promise<T> {
  const { DatabaseSync } = await import("node:sqlite");
  for (const startMs = clock.monotonic(); ;) {
    const database = new DatabaseSync(join(pluginsFolder, ".lock"), { timeout: 0 });
    try {
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;");
      return await change();
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 !== SQLITE_BUSY) throw error;
      if (clock.monotonic() - startMs > LONGEST_MS) {
        throw new SvcError("BUSY", "Another svc command changes the plugins all the time.", { cause: error });
      }
    } finally {
      database.close();
    }
    await clock.sleep(RETRY_MS, signal);
  }
}
