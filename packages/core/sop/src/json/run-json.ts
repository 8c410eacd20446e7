/** A run as /api and `svc sop --json` show it. */
import type * as api from "@svc/api";
import type { Approval, AuditEntry, SopRun, SopStepRow } from "@svc/store";
import type { SopStep } from "../library/types.ts";
import { gateId, interruptedId } from "../runs/definition.ts";
import type { SopRunDetail } from "../runs/types.ts";
import { instant, instantOrNull, orNull } from "./values.ts";

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
  const { steps: planned } = run.definition as unknown as { readonly steps: readonly SopStep[] };
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

/** An approval as /api and `svc approvals --json` show it. */
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
