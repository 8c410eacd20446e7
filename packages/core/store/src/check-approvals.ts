/** Every approval either waits or has an end, and whatever asks a question asks one that is there. */
import type { DatabaseSync } from "node:sqlite";
import { type Broken, countBroken, PAGE } from "./count-broken.ts";

export interface ApprovalReport {
  /** Sentences. */
  readonly problems: readonly string[];
  readonly complete: boolean;
}

/** Looks until `leftMs` says that no time is left. */
export async function checkApprovals(db: DatabaseSync, leftMs: () => number): Promise<ApprovalReport> {
  const found: readonly [Broken, string][] = [
    [await countBroken(db, UNDECIDED, leftMs), "approvals neither wait nor have an end, or both."],
    [
      await countBroken(db, STRAYS, leftMs),
      "questions to a person belong to no approval, or are open though it has ended.",
    ],
  ];
  return {
    problems: found.filter(([{ broken }]) => broken > 0).map(([{ broken }, what]) => `${broken} ${what}`),
    complete: found.every(([{ complete }]) => complete),
  };
}

const UNDECIDED = `
  SELECT max(n) AS last, total((status = 'waiting') IS NOT (ended_at IS NULL) OR (ended_at IS NULL) <> (ended_by IS NULL)) AS broken
  FROM (SELECT n, status, ended_at, ended_by FROM approvals WHERE n > ? ORDER BY n LIMIT ${PAGE})`;

const STRAYS = `
  SELECT max(p.delivery) AS last, total((p.is_open = 1) IS NOT (a.status = 'waiting')) AS broken
  FROM (SELECT delivery, approval, is_open FROM approval_prompts WHERE delivery > ? ORDER BY delivery LIMIT ${PAGE}) AS p
  LEFT JOIN approvals AS a ON a.n = p.approval`;
