/** A list of runs, newest first. It walks only what it lists: ten thousand that have ended stand in nobody's way. */
import type { DatabaseSync } from "node:sqlite";
import { runOf, type RunRow, selectRuns } from "./sop-run-row.ts";
import type { SopRun, SopRunQuery } from "./sop-types.ts";

const ACTIVE: ReadonlySet<string> = new Set(["pending", "running", "waiting_approval"]);

export function listRuns(db: DatabaseSync, query: SopRunQuery, limit: number): SopRun[] {
  const { sop, status, before = Number.MAX_SAFE_INTEGER } = query;
  const by = status === undefined ? "r" : ACTIVE.has(status) ? "a" : "e";
  const conditions = [
    `${by}.n < :before`,
    ...(sop === undefined ? [] : [`${by}.sop = :sop`]),
    ...(status === undefined ? [] : [`${by}.status = :status`]),
  ];
  const statement = db.prepare(
    `${selectRuns(by)} WHERE ${conditions.join(" AND ")} ORDER BY ${by}.n DESC LIMIT :limit`,
  );
  statement.setAllowUnknownNamedParameters(true);
  return (statement.all({ before, limit, sop: sop ?? null, status: status ?? null }) as unknown as RunRow[]).map(runOf);
}
