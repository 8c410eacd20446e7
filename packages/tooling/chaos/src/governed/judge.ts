/** Whether what was promised of procedures and approvals held. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Judgement } from "../judge/judgement.ts";
import { ACTS, PLAIN_ACTS, STEPS } from "./files.ts";
import type { GovernedFixture, Posted } from "./fixture.ts";
import type { StoredState, StoredApproval, StoredRun } from "./stored.ts";
import { actOf } from "./model.ts";
import type { People } from "./people.ts";
import type { Trigger } from "./triggers.ts";

export type Witness = Pick<GovernedFixture, "home" | "posted"> & { readonly people: Pick<People, "acknowledged"> };

export function judgeGoverned(
  stored: StoredState,
  triggers: readonly Trigger[],
  { home, posted, people }: Witness,
): Judgement {
  const rejected = new Set(stored.approvals.filter(({ status }) => status === "rejected").map(({ runId }) => runId));
  const parts = [
    startedOnce(stored, triggers),
    stored.runs.flatMap((run) => ended(run, rejected)),
    stored.approvals.flatMap((approval) => answered(approval, people)),
    writtenOnce(stored),
    actedOnce(stored, home),
    askedOnce(posted),
    Object.entries(stored.leftOver).flatMap(([table, count]) =>
      count > 0 ? [`${count} rows are left in ${table}`] : [],
    ),
    stored.integrity.filter((line) => line !== "ok").map((line) => `integrity_check: ${line}`),
  ];
  const cutOff = stored.calls.filter(({ state }) => state === "started" || state === "interrupted");
  return {
    problems: parts.flat(),
    facts: {
      runs: stored.runs.length,
      "of them cancelled by a no": rejected.size,
      approvals: stored.approvals.length,
      "answered in the chat": stored.approvals.filter(({ via }) => via === "chat").length,
      "questions posted twice: killed between accepted and commit":
        posted.length - new Set(posted.map(({ approval }) => approval)).size,
      "acting calls": stored.calls.length,
      "of them cut off": cutOff.length,
      "asked about, as nobody knows": stored.approvals.filter(({ stepId }) => stepId.endsWith("-interrupted")).length,
      integrity_check: stored.integrity.join("; "),
    },
  };
}

function startedOnce({ runs, approvals }: StoredState, triggers: readonly Trigger[]): string[] {
  const runsByLabel = Map.groupBy(runs, ({ label }) => label);
  const asked = Map.groupBy(approvals, ({ runId }) => runId);
  const counts = triggers.map(
    ({ kind, label }) => [label, (kind === "ask" ? asked : runsByLabel).get(label)?.length ?? 0] as const,
  );
  const strays = runs.filter(({ label }) => !triggers.some((trigger) => trigger.label === label));
  return [
    ...counts
      .filter(([, count]) => count !== 1)
      .map(([label, count]) => `${label} was kept and is there ${count} times`),
    ...strays.map(({ id }) => `nobody started ${id}`),
  ];
}

function ended({ id, label, status }: StoredRun, rejected: ReadonlySet<string>): string[] {
  const expected = rejected.has(id) ? "cancelled" : "completed";
  return status === expected ? [] : [`${label} is ${status ?? "not ended"}, not ${expected}`];
}

/**
 * An answer that was acknowledged must count. If very many messages wait, a program outside is told that
 * its channel is skipped.
 */
function answered(
  { n, origin, status, via, questions }: StoredApproval,
  { acknowledged }: Witness["people"],
): string[] {
  const said = acknowledged.get(n);
  const is = status === "approved";
  return [
    ...(status === "approved" || status === "rejected" ? [] : [`approval #${n} is ${status}`]),
    ...(said !== undefined && (said !== is || via !== "api")
      ? [`approval #${n}: an answer that was acknowledged is lost`]
      : []),
    ...(questions === 1 || (questions === 0 && origin === "external")
      ? []
      : [`approval #${n} was put into the outbox ${questions} times`]),
  ];
}

/** One line each: a run's start and end, a question and its answer. */
function writtenOnce({ runs, approvals, audit }: StoredState): string[] {
  const left = new Map(audit.map(({ kind, runId, stepId, count }) => [[kind, runId, stepId].join(" "), count]));
  const due = [
    ...runs.flatMap(({ id }) => [`sop-run-start ${id} `, `sop-run-end ${id} `]),
    ...approvals.flatMap(({ runId, stepId }) => [
      `approval-request ${runId} ${stepId}`,
      `approval-answer ${runId} ${stepId}`,
    ]),
  ];
  const wrong = due.flatMap((line) => {
    const count = left.get(line) ?? 0;
    left.delete(line);
    return count === 1 ? [] : [`the audit log has ${count} of "${line}"`];
  });
  return [...wrong, ...[...left.keys()].map((line) => `the audit log has "${line}", which never was`)];
}

/** Of each step that was let through exactly one call; what it was to leave behind is there once, if it is known to be done. */
function actedOnce({ runs, calls }: StoredState, home: string): string[] {
  const problems: string[] = [];
  const byTurn = Map.groupBy(calls, ({ turnId }) => turnId);
  const lines = linesOf(home, ACTS);
  const again = { done: 0, unknown: 0 };
  for (const { id, label, sop, status } of runs) {
    for (let number = 1; number <= STEPS; number += 1) {
      const made = byTurn.get(`sop-${id}-${number}`) ?? [];
      if (made.length > 1) problems.push(`step ${number} of ${label} called ${made.length} times`);
      if (made.length === 0 && status === "completed") problems.push(`step ${number} of ${label} was not done`);
      const isDone = made[0]?.state === "finished";
      if (sop === "plain" && number === STEPS) {
        if (made.length > 0) again[isDone ? "done" : "unknown"] += 1;
        continue;
      }
      const times = lines.get(actOf(label, number)) ?? 0;
      lines.delete(actOf(label, number));
      if (times > 1) problems.push(`step ${number} of ${label} acted ${times} times`);
      if (isDone && times === 0) problems.push(`step ${number} of ${label} is noted as done and was not`);
      if (made.length === 0 && times > 0) problems.push(`step ${number} of ${label} acted and nobody noted it`);
    }
  }
  const plain = [...linesOf(home, PLAIN_ACTS).values()].reduce((sum, count) => sum + count, 0);
  if (plain < again.done || plain > again.done + again.unknown)
    problems.push(`${PLAIN_ACTS} has ${plain} lines of ${again.done}`);
  return [...problems, ...[...lines.keys()].map((line) => `${line} was done, and nobody asked for it`)];
}

/** How often each is there. */
function linesOf(home: string, name: string): Map<string, number> {
  const file = join(home, "workspace", name);
  const lines = existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];
  return new Map([...Map.groupBy(lines, (line) => line)].map(([line, all]) => [line, all.length]));
}

/** Twice is excused where the daemon was killed before it could note that the platform had taken it. */
function askedOnce(posted: readonly Posted[]): string[] {
  return [...Map.groupBy(posted, ({ approval }) => approval)].flatMap(([n, all]) => {
    const isExcused = all.slice(0, -1).every(({ isLast, life }, index) => isLast && life !== all[index + 1]!.life);
    return isExcused ? [] : [`the question of approval #${n} was posted ${all.length} times`];
  });
}
