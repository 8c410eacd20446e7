/** `@svc/sop`: procedures, their triggers and runs; approvals. */
export type * from "./approvals/types.ts";
export type * from "./channel-events/types.ts";
export type * from "./library/types.ts";
export type * from "./runs/types.ts";
export { type ApprovalRegistry, createApprovals } from "./approvals/approvals.ts";
export type { ApprovalOptions, ChannelAnswers } from "./approvals/options.ts";
export { approvalJson } from "./json/approval-json.ts";
export { auditJson, runDetailJson, runJson } from "./json/run-json.ts";
export { sopJson } from "./json/sop-json.ts";
export { fillArgs, referencesIn } from "./library/args.ts";
export { gateOf } from "./library/mode.ts";
export type { CronTimes } from "./triggers/cron-time.ts";
export { cronTimes } from "./triggers/cron-time.ts";
export { createAuditLog } from "./audit/audit-log.ts";
export { type CronSchedule, createSops, type DueCron, type SopEngine, type SopsOptions } from "./runs/sops.ts";
export { SOP_TOOLS, type SopDoors, sopTools } from "./tools/sop-tools.ts";
export { conditionHolds, triggerFits } from "./triggers/match.ts";
