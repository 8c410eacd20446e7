/** What is written down of runs and approvals, in one place: the words of the log are read by programs. */
import { createHash } from "node:crypto";
import type { Json } from "@svc/contract";
import type { Approval, SopRun, SopRunEnd, SopStepRow } from "@svc/store";
import type { ToolCallDetail } from "../approvals/types.ts";
import type { AuditLog } from "../runs/types.ts";

export const auditLines = (audit: Pick<AuditLog, "add">) => ({
  /** The payload itself may hold anything; its digest tells whether it was this one. */
  runStart: (run: SopRun, version: string): void =>
    audit.add("sop-run-start", {
      run_id: run.id,
      sop: run.sop,
      version,
      mode: run.mode,
      source: run.source,
      topic: run.topic,
      started_by: run.startedBy,
      agent: orNull(run.startedByAgent),
      ...(run.isTest && { test: true }),
      ...(run.retryOf !== undefined && { retry_of: run.retryOf, first_step: run.firstStep }),
      payload_sha256: run.payload === null ? null : createHash("sha256").update(run.payload).digest("hex"),
    }),
  stepEnd: (run: SopRun, step: number, status: SopStepRow["status"]): void =>
    audit.add("sop-step-end", { run_id: run.id, sop: run.sop, step, status }),
  runEnd: (run: SopRun, { status, error, reason }: SopRunEnd): void =>
    audit.add("sop-run-end", {
      run_id: run.id,
      sop: run.sop,
      status,
      error: orNull(error),
      reason: orNull(reason),
    }),
  approvalRequest: ({ runId, stepId, origin, title, askedBy, n, detail }: Approval): void =>
    audit.add("approval-request", {
      n,
      run_id: runId,
      step_id: stepId,
      origin,
      title,
      asked_by: askedBy,
      ...callOf(detail),
    }),
  approvalAnswer: ({ runId, stepId, origin, status, answer, n, detail, offers }: Approval): void =>
    audit.add("approval-answer", {
      n,
      run_id: runId,
      step_id: stepId,
      origin,
      outcome: status,
      by: orNull(answer?.by),
      via: orNull(answer?.via),
      feedback: orNull(answer?.feedback),
      ...callOf(detail),
      ...(answer?.holds === "conversation" && { holds: "conversation", pattern: orNull(offers?.conversation?.text) }),
      ...(answer?.holds === "always" && { holds: "always", pattern: orNull(offers?.always?.text) }),
    }),
});

export type AuditLines = ReturnType<typeof auditLines>;

/** What was asked about, without secrets. */
const callOf = (detail: Json | undefined): { readonly [name: string]: Json } => {
  if (detail === undefined) return {};
  const { tool, agent, summary } = detail as unknown as ToolCallDetail;
  return { tool, agent, call: summary };
};

const orNull = (value: string | undefined): Json => value ?? null;
