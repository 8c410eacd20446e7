/** What the database has of procedures in the end, read as it lies there: no code of the service stands between. */
import { DatabaseSync } from "node:sqlite";
import { databaseOf } from "../judge/database.ts";

export interface StoredRun {
  readonly id: string;
  readonly label: string;
  readonly sop: string;
  /** Null: it has not ended. */
  readonly status: string | null;
}

export interface StoredApproval {
  readonly n: number;
  readonly runId: string;
  readonly stepId: string;
  readonly origin: string;
  readonly status: string;
  readonly via: string | null;
  /** Questions that went out for it. */
  readonly questions: number;
}

export interface StoredStepCall {
  readonly turnId: string;
  /** Of the harness's own words: the line that it writes. */
  readonly line: string;
  readonly state: string;
}

export interface AuditCount {
  readonly kind: string;
  readonly runId: string;
  /** "" for what is about a run as a whole. */
  readonly stepId: string;
  readonly count: number;
}

export interface StoredState {
  readonly runs: readonly StoredRun[];
  readonly approvals: readonly StoredApproval[];
  readonly calls: readonly StoredStepCall[];
  readonly audit: readonly AuditCount[];
  /** What nothing is left of when all is over: rows by table. */
  readonly leftOver: Readonly<Record<string, number>>;
  /** What SQLite says of itself. */
  readonly integrity: readonly string[];
}

export function readStoredState(home: string): StoredState {
  using db = new DatabaseSync(databaseOf(home), { readOnly: true });
  const all = <Row>(sql: string): Row[] => db.prepare(sql).all() as Row[];
  return {
    runs: all(`SELECT r.id, json_extract(payload, '$.label') AS label, r.sop, e.status
      FROM sop_runs AS r LEFT JOIN sop_ended AS e USING (n) ORDER BY n`),
    approvals: all(`SELECT n, run_id AS runId, step_id AS stepId, origin, status, via,
      (SELECT count(*) FROM outbox WHERE outbox.approval = approvals.n) AS questions FROM approvals ORDER BY n`),
    calls: all(`SELECT turn_id AS turnId, trim(json_extract(input, '$.content'), char(10)) AS line, state
      FROM tool_calls ORDER BY started_at`),
    audit:
      all(`SELECT kind, json_extract(data, '$.run_id') AS runId, coalesce(json_extract(data, '$.step_id'), '') AS stepId,
      count(*) AS count FROM audit WHERE kind <> 'sop-step-end' GROUP BY 1, 2, 3`),
    leftOver: Object.fromEntries(
      ["inbox_open", "outbox_open", "steps", "sop_active"].map((table) => [
        table,
        all<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)[0]!.count,
      ]),
    ),
    integrity: all<Record<string, string>>("PRAGMA integrity_check").map((row) => Object.values(row)[0]!),
  };
}
