/** Procedures, runs and approvals as /api and the CLI with `--json` show them. */
import { basename } from "node:path";
import type * as api from "@svc/api";
import type { Problem } from "@svc/config";
import type { Json } from "@svc/contract";
import type { Approval, AuditEntry, SopRun, SopStepRow } from "@svc/store";
import type { SavedSop, SopDraft, SopSource, UndoneSop } from "./editor/draft.ts";
import type { SopVersion, SopVersionDetail } from "./editor/history.ts";
import type { SopStep, SopTrigger } from "./library/types.ts";
import { gateId, interruptedId } from "./runs/definition.ts";
import type { SopCalendar, SopRunDetail, SopSummary } from "./runs/types.ts";
import { jsonAs } from "@svc/kit";

/** A run. */
export const runJson = (run: SopRun): api.SopRun => ({
  id: run.id,
  n: run.n,
  sop: run.sop,
  status: run.status,
  mode: run.mode,
  step: run.step,
  source: run.source,
  topic: run.topic,
  started_by: run.startedBy,
  started_at: instant(run.startedAtMs),
  ended_at: instantOrNull(run.endedAtMs),
  error: orNull(run.error),
  reason: orNull(run.reason),
  test: run.isTest,
  retry_of: orNull(run.retryOf),
  first_step: run.firstStep,
});

/** `approvalOf`: of the gate of a step. */
export function runDetailJson(
  { run, steps }: SopRunDetail,
  approvalOf: (key: { readonly runId: string; readonly stepId: string }) => Approval | undefined,
): api.SopRunDetail {
  const rows = new Map(steps.map((row) => [row.step, row]));
  const { steps: planned } = jsonAs<{ readonly steps: readonly SopStep[] }>(run.definition);
  const shown = planned.map(({ number, title, kind, actedIn }) => {
    // What it asks now, or asked last: after a call that was cut off, a second question.
    const asked = [interruptedId(number), gateId(number)].map((stepId) => approvalOf({ runId: run.id, stepId }));
    // An outside workflow may name its question like a step of ours: that does not make it the step's.
    const approval = asked.find((one) => one?.origin === "sop");
    return {
      number,
      title,
      kind,
      ...rowJson(rows.get(number)),
      acted_in: orNull(actedIn),
      approval: approval ? approvalJson(approval) : null,
    };
  });
  return { ...runJson(run), payload: run.payload, steps: shown };
}

const rowJson = (
  row: SopStepRow | undefined,
): Pick<api.SopRunStep, "status" | "started_at" | "ended_at" | "output"> => ({
  status: row?.status ?? "pending",
  started_at: instantOrNull(row?.startedAtMs),
  ended_at: instantOrNull(row?.endedAtMs),
  output: row?.output ?? null,
});

export const auditJson = ({ n, atMs, kind, data, hash }: AuditEntry): api.AuditEntry => ({
  n,
  at: instant(atMs),
  kind,
  data,
  hash,
});

/** An approval. */
export const approvalJson = (approval: Approval): api.Approval => {
  const { answer, status } = approval;
  return {
    n: approval.n,
    run_id: approval.runId,
    step_id: approval.stepId,
    origin: approval.origin,
    title: approval.title,
    message: approval.message,
    approve_keywords: [...approval.approveKeywords],
    reject_keywords: [...approval.rejectKeywords],
    channels: [...approval.channels],
    asked_by: approval.askedBy,
    status,
    created_at: instant(approval.createdAtMs),
    expires_at: instant(approval.expiresAtMs),
    prompts: approval.prompts.map(({ conversation, opened }) => ({
      channel: conversation.channel,
      conversation: conversation.id,
      thread: orNull(conversation.thread ?? opened?.thread),
    })),
    answer: answer
      ? {
          approved: status === "approved",
          feedback: orNull(answer.feedback),
          by: answer.by,
          via: answer.via,
          at: instant(answer.atMs),
          holds: status === "approved" ? (answer.holds ?? "once") : null,
        }
      : null,
    // As the agent wrote it when it asked.
    detail: (approval.detail ?? null) as api.ApprovalDetail | null,
    // What a yes would be kept under is of no use outside.
    offers: {
      conversation: orNull(approval.offers?.conversation?.text),
      always: orNull(approval.offers?.always?.text),
      reason: orNull(approval.offers?.reason),
    },
  };
};

/** The calendar of cron triggers. */
export const calendarJson = ({ fromMs, untilMs, times, left }: SopCalendar): api.SopCalendar => ({
  from: instant(fromMs),
  until: instant(untilMs),
  times: times.map(({ sop, expression, timezone, atMs, hasMore }) => ({
    sop,
    expression,
    timezone: orNull(timezone),
    at: atMs.map(instant),
    more: hasMore,
  })),
  left,
});

/** A procedure. */
export function sopJson({ definition, problem, activeRuns, lastRun, nextAtMs }: SopSummary): api.Sop {
  const next = nextAtMs.values();
  return {
    name: definition.name,
    enabled: definition.isDisabled !== true,
    description: definition.description,
    version: definition.version,
    priority: definition.priority,
    execution_mode: definition.mode,
    cooldown_secs: definition.cooldownMs / 1000,
    max_concurrent: definition.maxConcurrent,
    agent: orNull(definition.agent),
    triggers: definition.triggers.map((trigger) => triggerJson(trigger, () => next.next().value)),
    steps: definition.steps.map(stepJson),
    active_runs: activeRuns,
    last_run: lastRun ? runJson(lastRun) : null,
    problem: orNull(problem),
  };
}

function triggerJson(trigger: SopTrigger, next: () => number | undefined): api.SopTrigger {
  const { type, condition } = trigger;
  const rest = { type, condition: orNull(condition) };
  if (trigger.type === "webhook") return { ...rest, path: trigger.path };
  if (trigger.type === "channel_event") return { ...rest, event: trigger.event };
  if (trigger.type === "mqtt") return { ...rest, topic: trigger.topic };
  if (trigger.type === "peripheral") return { ...rest, board: trigger.board, signal: trigger.signal };
  if (trigger.type === "manual") return rest;
  const { expression, timezone } = trigger;
  return { ...rest, expression, timezone: orNull(timezone), next_at: instantOrNull(next()) };
}

const stepJson = ({ number, title, kind, tools, requiresConfirmation, agent }: SopStep): api.SopStep => ({
  number,
  title,
  kind,
  tools: [...tools],
  requires_confirmation: requiresConfirmation,
  agent: orNull(agent),
});

/** A procedure that is being written. */
export const draftJson = ({ toml, markdown, problems, warnings, form }: SopDraft): api.SopDraft => ({
  toml,
  markdown: orNull(markdown),
  problems: problems.map(problemJson),
  warnings: warnings.map(problemJson),
  form,
});

export const sourceJson = (source: SopSource): api.SopSource => ({
  name: source.name,
  revision: source.revision,
  unwritable: orNull(source.unwritable),
  ...draftJson(source),
});

export const savedJson = (saved: SavedSop): api.SopSaved => ({ ...undoneJson(saved), revision: saved.revision });

export const undoneJson = ({ name, revision, version, warnings }: UndoneSop): api.SopUndone => ({
  name,
  revision: orNull(revision),
  version: version ?? null,
  warnings: warnings.map(problemJson),
});

export const versionJson = ({ version, at, by, keys, what }: SopVersion): api.SopVersion => ({
  version,
  at,
  by,
  what,
  sops: [...keys],
});

export const versionDetailJson = (detail: SopVersionDetail): api.SopVersionDetail => ({
  ...versionJson(detail),
  changes: detail.changes,
  undo: detail.undo,
  revision: detail.revision,
});

const problemJson = ({ file, line, column, key, message, allowed, didYouMean }: Problem): api.SopProblem => ({
  file: file === undefined ? null : basename(file),
  line: line ?? null,
  column: column ?? null,
  key,
  message,
  allowed: orNull(allowed),
  did_you_mean: orNull(didYouMean),
});

// How values are written in JSON.

/** Milliseconds since the epoch as ISO 8601. */
const instant = (ms: number): string => new Date(ms).toISOString();
const instantOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : instant(ms));
const orNull = <T extends Json>(value: T | undefined): T | null => value ?? null;
