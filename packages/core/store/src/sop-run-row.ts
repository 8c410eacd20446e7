/** A run of a procedure as its tables hold it. */
import type { ErrorCode, Json } from "@svc/contract";
import type { SopRun, SopRunStatus } from "./sop-types.ts";

/** `r`, `a` and `e`: the run, how far it is, how it ended. What one reads by stands first: SQLite then walks only that. */
export const selectRuns = (by: "r" | "a" | "e"): string => {
  const tables = { r: "sop_runs AS r", a: "sop_active AS a", e: "sop_ended AS e" };
  const joins = { r: "JOIN sop_runs AS r USING (n)", a: "LEFT JOIN sop_active AS a USING (n)" };
  const end = "LEFT JOIN sop_ended AS e USING (n)";
  const others = { r: `${joins.a} ${end}`, a: `CROSS ${joins.r} ${end}`, e: `CROSS ${joins.r} ${joins.a}` };
  return `SELECT r.*, d.definition AS definition_json, coalesce(a.status, e.status) AS status,
      coalesce(a.step, e.step) AS step, e.ended_at, e.error, e.reason
    FROM ${tables[by]} ${others[by]} JOIN sop_definitions AS d ON d.n = r.definition`;
};

export interface RunRow {
  n: number;
  id: string;
  sop: string;
  definition_json: string;
  mode: string;
  source: string;
  topic: string;
  payload: string | null;
  started_by: string;
  started_by_agent: string | null;
  started_at: number;
  status: SopRunStatus;
  step: number;
  ended_at: number | null;
  error: ErrorCode | null;
  reason: string | null;
  traceparent: string | null;
  test: number;
  retry_of: string | null;
  first_step: number;
}

export const runOf = (row: RunRow): SopRun => ({
  n: row.n,
  id: row.id,
  sop: row.sop,
  definition: JSON.parse(row.definition_json) as Json,
  mode: row.mode,
  status: row.status,
  step: row.step,
  source: row.source,
  topic: row.topic,
  payload: row.payload,
  startedBy: row.started_by,
  startedByAgent: row.started_by_agent ?? undefined,
  startedAtMs: row.started_at,
  endedAtMs: row.ended_at ?? undefined,
  error: row.error ?? undefined,
  reason: row.reason ?? undefined,
  traceparent: row.traceparent ?? undefined,
  isTest: row.test === 1,
  retryOf: row.retry_of ?? undefined,
  firstStep: row.first_step,
});
