/** A list of runs, newest first. It walks only what it lists: ten thousand that have ended stand in nobody's way. */
import type { DatabaseSync } from "node:sqlite";
import { runOf, type RunRow, selectRuns } from "./sop-run-row.ts";
import type { SopRun, SopRunQuery } from "./sop-types.ts";

const ACTIVE: ReadonlySet<string> = new Set(["pending", "running", "waiting_approval"]);

export function listRuns(db: DatabaseSync, query: SopRunQuery, limit: number): SopRun[] {
  const { sop, status, source, test, before = Number.MAX_SAFE_INTEGER } = query;
  const by = status === undefined ? "r" : ACTIVE.has(status) ? "a" : "e";
  const conditions = [
    `${by}.n < :before`,
    ...(sop === undefined ? [] : [`${by}.sop = :sop`]),
    ...(status === undefined ? [] : [`${by}.status = :status`]),
    ...(source === undefined ? [] : ["r.source = :source"]),
    ...(test === undefined ? [] : ["r.test = :test"]),
  ];
  const statement = db.prepare(
    `${selectRuns(by)} WHERE ${conditions.join(" AND ")} ORDER BY ${by}.n DESC LIMIT :limit`,
  );
  statement.setAllowUnknownNamedParameters(true);
  const values = { sop: sop ?? null, status: status ?? null, source: source ?? null, test: test === true ? 1 : 0 };
  return (statement.all({ before, limit, ...values }) as unknown as RunRow[]).map(runOf);
}
