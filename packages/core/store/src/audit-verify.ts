/** Whether the audit log is as it was written: nothing in it changed, removed, slipped in, moved, or cut off its end. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DatabaseSync } from "node:sqlite";
import { type AuditHead, auditHash, headOf, NO_LINE } from "./audit-line.ts";

/** Lines of one step: about two milliseconds. */
const PAGE = 500;

export interface AuditReport {
  /** Lines there are, up to the first that does not fit. */
  readonly entries: number;
  /** The first line that does not fit, or that is missing. */
  readonly brokenAt: number | undefined;
  /** False: the time was up before all of it was read. */
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. Lines may be added meanwhile. */
export async function verifyAudit(db: DatabaseSync, leftMs: () => number = () => Infinity): Promise<AuditReport> {
  // One statement, one instant: a line that is added in between would seem to be behind the last one.
  const page = db.prepare(
    `SELECT head.value AS head, a.* FROM (SELECT (SELECT value FROM meta WHERE key = 'audit.head') AS value) AS head
     LEFT JOIN (SELECT * FROM audit WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS a`,
  );
  let at: AuditHead = NO_LINE;
  for (;;) {
    if (leftMs() <= 0) return { entries: at.n, brokenAt: undefined, complete: false };
    const rows = page.all(at.n) as unknown as VerifiedRow[];
    const lines = rows[0]!.n === null ? [] : rows;
    for (const line of lines) {
      const hash = auditHash(at.hash, { n: line.n!, atMs: line.at, kind: line.kind, data: line.data });
      if (line.n !== at.n + 1 || line.hash !== hash) return { entries: at.n, brokenAt: at.n + 1, complete: true };
      at = { n: line.n, hash };
    }
    if (lines.length < PAGE) return { entries: at.n, brokenAt: brokenEnd(at, rows[0]!.head), complete: true };
    await nextTurn();
  }
}

function brokenEnd(last: AuditHead, head: string | null): number | undefined {
  const known = headOf(head) ?? NO_LINE;
  if (known.n === last.n && known.hash === last.hash) return undefined;
  // Lines behind the one that is known to be the last were not written here.
  return known.n < last.n ? known.n + 1 : last.n + 1;
}

interface VerifiedRow {
  readonly head: string | null;
  readonly n: number | null;
  readonly at: number;
  readonly kind: string;
  readonly data: string;
  readonly hash: string;
}
