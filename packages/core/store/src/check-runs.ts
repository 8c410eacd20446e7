/** Every run of a procedure either goes on or has ended, and the audit log is as it was written. */
import type { DatabaseSync } from "node:sqlite";
import { verifyAudit } from "./audit-verify.ts";
import { countBroken, PAGE } from "./count-broken.ts";

export interface RunReport {
  /** Sentences. */
  readonly problems: readonly string[];
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. */
export async function checkRuns(db: DatabaseSync, leftMs: () => number): Promise<RunReport> {
  const undecided = await countBroken(db, UNDECIDED, leftMs);
  const audit = await verifyAudit(db, leftMs);
  return {
    problems: [
      ...(undecided.broken > 0
        ? [`${undecided.broken} runs of procedures neither go on nor have ended, or both.`]
        : []),
      ...(audit.brokenAt === undefined
        ? []
        : [`The audit log is not as it was written, from line ${audit.brokenAt} on.`]),
    ],
    complete: undecided.complete && audit.complete,
  };
}

const UNDECIDED = `
  SELECT max(r.n) AS last, total((a.n IS NULL) = (e.n IS NULL) OR d.n IS NULL) AS broken
  FROM (SELECT n, definition FROM sop_runs WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS r
  LEFT JOIN sop_active AS a ON a.n = r.n LEFT JOIN sop_ended AS e ON e.n = r.n
  LEFT JOIN sop_definitions AS d ON d.n = r.definition`;
