/** `svc approvals`, `svc sop`, `svc audit`. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import { Approval, PolicyRule } from "../approvals.ts";
import { AuditEntry } from "../audit.ts";
import {
  SopCalendar,
  SopDraft,
  SopRetried,
  SopSaved,
  SopSource,
  SopUndone,
  SopVersionDetail,
  SopVersions,
} from "../sop-editor.ts";
import { Sop, SopList, SopRun, SopRunDetail, SopRunStatus } from "../sops.ts";
import { limit, type Message, nothing, typed } from "./message.ts";

const STATUSES = Approval.entries.status.options;

const RUN_STATUSES = SopRunStatus.options;
const SOURCES = ["webhook", "channel_event", "cron", "mqtt", "peripheral", "manual"] as const;

/** A run that is followed: each step of it, and what it asks people. */
export type RunEvent =
  | { readonly type: "step"; readonly run: string; readonly step: number; readonly status: string }
  | { readonly type: "question"; readonly run: string; readonly title: string; readonly approval: number | null };

const procedure = v.object({ name: v.string() });

const files = { toml: v.string(), markdown: v.exactOptional(v.string()) };

/** `payload`: JSON text. */
const start = { payload: v.exactOptional(v.string()), wait: v.optional(v.boolean(), false) };

export const GOVERNANCE = {
  approvals: {
    input: v.object({
      status: v.optional(typed([...STATUSES, "all"], `--status takes ${STATUSES.join(", ")} or all.`), "waiting"),
      limit,
    }),
    output: v.object({ approvals: v.array(Approval) }),
  },
  "approval-answer": {
    input: v.object({
      /** The request's number, or its run. */
      run: v.string(),
      step: v.exactOptional(v.string()),
      approved: v.boolean(),
      feedback: v.exactOptional(v.string()),
      holds: v.exactOptional(typed(["once", "conversation", "always"], "--for takes once, conversation or always.")),
    }),
    output: Approval,
  },
  "approval-rules": { input: nothing, output: v.object({ rules: v.array(PolicyRule) }) },
  "approval-rule-revoke": {
    input: v.object({ id: v.string() }),
    output: v.object({ id: v.string(), revoked: v.literal(true) }),
  },
  sops: { input: nothing, output: SopList },
  "sop-show": {
    /** Of a procedure or a run. */
    input: procedure,
    output: v.object({ sop: v.exactOptional(Sop), run: v.exactOptional(SopRunDetail) }),
  },
  "sop-validate": {
    input: v.partial(procedure),
    output: v.object({
      ok: v.boolean(),
      procedures: v.array(v.object({ name: v.string(), problems: v.array(v.string()), warnings: v.array(v.string()) })),
    }),
  },
  "sop-run": { input: v.object({ ...procedure.entries, ...start }), output: SopRunDetail },
  "sop-test": {
    input: v.object({
      ...procedure.entries,
      ...start,
      /** Index of the trigger that is tried. */
      trigger: v.exactOptional(v.number()),
    }),
    output: SopRunDetail,
  },
  "sop-retry": { input: v.object({ run: v.string(), step: v.number() }), output: SopRetried },
  "sop-runs": {
    input: v.object({
      name: v.exactOptional(v.string()),
      status: v.exactOptional(typed(RUN_STATUSES, `--status takes ${RUN_STATUSES.join(", ")}.`)),
      source: v.exactOptional(typed(SOURCES, `--source takes ${SOURCES.join(", ")}.`)),
      test: v.exactOptional(v.boolean()),
      limit,
    }),
    output: v.object({ runs: v.array(SopRun) }),
  },
  "sop-cancel": { input: v.object({ run: v.string() }), output: SopRun },
  "sop-calendar": {
    input: v.object({ days: v.optional(v.number(), 7), name: v.exactOptional(v.string()) }),
    output: SopCalendar,
  },
  "sop-read": { input: procedure, output: SopSource },
  "sop-draft": { input: v.object({ ...procedure.entries, ...v.partial(v.object(files)).entries }), output: SopDraft },
  "sop-save": {
    input: v.object({ ...procedure.entries, ...files, revision: v.exactOptional(v.string()) }),
    output: SopSaved,
  },
  "sop-copy": { input: v.object({ ...procedure.entries, to: v.string() }), output: SopSaved },
  "sop-rename": { input: v.object({ ...procedure.entries, to: v.string() }), output: SopSaved },
  "sop-switch": { input: v.object({ ...procedure.entries, enabled: v.boolean() }), output: SopSaved },
  "sop-delete": { input: procedure, output: SopUndone },
  "sop-versions": { input: v.object({ name: v.exactOptional(v.string()) }), output: SopVersions },
  "sop-version": { input: v.object({ version: v.number() }), output: SopVersionDetail },
  "sop-undo": {
    input: v.object({ version: v.number(), revision: v.exactOptional(v.string()) }),
    output: SopUndone,
  },
  audit: { input: v.object({ limit }), output: v.object({ entries: v.array(AuditEntry) }) },
  "audit-verify": {
    input: nothing,
    output: v.object({ ok: v.boolean(), entries: integer(0), broken_at: v.nullable(integer(0)) }),
  },
} satisfies Readonly<Record<string, Message>>;
