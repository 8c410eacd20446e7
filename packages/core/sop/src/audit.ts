/** The audit log: what is put into it is short, and holds no secret. And the lines that runs and approvals put there. */
import type { Json } from "@svc/contract";
import type { Approval, SopRun, SopRunEnd, SopStepRow, Store } from "@svc/store";
import type { AuditLog } from "./runs/types.ts";
import { createHash } from "node:crypto";
import type { ToolCallDetail } from "./approvals/types.ts";
import { jsonAs } from "@svc/kit";

export interface AuditLogOptions {
  readonly store: Pick<Store, "audit">;
  /** Takes the configured secrets out. */
  readonly redact: (text: string) => string;
}

/** Longest text in a line; nothing of it is ever deleted. */
const MAX_TEXT_CHARS = 1_000;
/** Most values of a list or an object, and how deep they lie in one another. */
const MAX_MEMBERS = 50;
const MAX_DEPTH = 4;

export function createAuditLog({ store, redact }: AuditLogOptions): AuditLog {
  return {
    list(limit, before) {
      const entries = store.audit.list(limit + 1, before);
      const shown = entries.slice(0, limit);
      return { entries: shown, next: entries.length > limit ? shown.at(-1)!.n : undefined };
    },
    async verify() {
      const { entries, brokenAt } = await store.audit.verify();
      return { entries, brokenAt };
    },
    add: (kind, data) => store.audit.add(kind, auditValue(data, redact, 0)),
  };
}

function auditValue(value: Json, redact: (text: string) => string, depth: number): Json {
  if (typeof value === "string") return cut(redact(value));
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return "[…]";
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item: Json) => auditValue(item, redact, depth + 1));
  const members = Object.entries(value).slice(0, MAX_MEMBERS);
  return Object.fromEntries(members.map(([key, member]) => [cut(redact(key)), auditValue(member, redact, depth + 1)]));
}

const cut = (text: string): string => {
  const whole = text.toWellFormed();
  return whole.length <= MAX_TEXT_CHARS ? whole : `${whole.slice(0, MAX_TEXT_CHARS).toWellFormed()}…`;
};

/** The lines of runs and approvals, in one place: programs read these words. */
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
  const { tool, agent, summary } = jsonAs<ToolCallDetail>(detail);
  return { tool, agent, call: summary };
};

const orNull = (value: string | undefined): Json => value ?? null;
