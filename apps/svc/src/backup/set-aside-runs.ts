/** Runs in a database that comes out of a backup: they may have gone on since, and a step that is done twice is worse than one that is not. */
import { createLogger } from "@svc/runtime";
import { systemClock } from "@svc/kit/system-clock";
import { createLibrary, cronMarks } from "@svc/sop";
import { openStore } from "@svc/store";
import { offlineEngine } from "../service/governance/offline-engine.ts";

/** For a person: in the run, in the audit log, and where it had asked. */
const BY = "a restore, since nobody knows what it has done after the backup";

/**
 * Ends those that are under way, and forgets up to when the times of schedules are dealt with: none that has been since the
 * backup comes again. Resolves with how many runs it were. For a file that is sound and that nobody has open. Throws STORE_*.
 */
export async function setAsideRuns(file: string): Promise<number> {
  const store = openStore({ file, clock: systemClock, idempotency: { ttlMs: 0, maxKeys: 1 } });
  try {
    const log = createLogger({ level: "error", write: () => {}, json: true, clock: systemClock });
    const library = createLibrary({
      log,
      clock: systemClock,
      folder: () => "",
      defaultMode: () => "supervised",
      reserved: () => [],
    });
    const rules = { approversOf: () => [], places: () => [], expireMs: 0, maxConcurrentTotal: 0 };
    const { sops } = offlineEngine({ store, log, redact: (text) => text, library, rules });
    const active = store.sopRuns.active();
    for (const { id } of active) await sops.cancel(id, BY);
    const marks = cronMarks(store);
    await marks.write(() => marks.keys().forEach((key) => marks.noteIn(key, undefined)));
    return active.length;
  } finally {
    store.close();
  }
}
