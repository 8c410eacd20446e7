/** Runs that ended long ago are deleted, a few in each step. Their lines in the audit log stay. */
import type { DatabaseSync } from "node:sqlite";

/** Most of one step: a payload has up to 64 KiB, and so has each output. */
const RUNS = 20;

export class OldSopRuns {
  readonly #old;
  readonly #deletes;
  readonly #dropDefinitions;

  constructor(db: DatabaseSync) {
    // The newest stays, or its number would be given to the next one.
    this.#old = db.prepare(
      `SELECT n FROM sop_ended WHERE ended_at < ? AND n < (SELECT max(n) FROM sop_runs) ORDER BY n LIMIT ${RUNS}`,
    );
    this.#deletes = ["sop_steps WHERE run_n", "sop_ended WHERE n", "sop_runs WHERE n"].map((rows) =>
      db.prepare(`DELETE FROM ${rows} = ?`),
    );
    this.#dropDefinitions = db.prepare(
      "DELETE FROM sop_definitions WHERE NOT EXISTS (SELECT 1 FROM sop_runs WHERE sop_runs.definition = sop_definitions.n)",
    );
  }

  /** Inside a transaction; tells how many. */
  drop(beforeMs: number): number {
    const old = this.#old.all(beforeMs) as { n: number }[];
    for (const { n } of old) for (const rows of this.#deletes) rows.run(n);
    if (old.length > 0) this.#dropDefinitions.run();
    return old.length;
  }
}
