/** `@svc/sop`: procedures, their triggers and runs; approvals. */
export type * from "./approvals/types.ts";
export type * from "./channel-events/types.ts";
export type * from "./library/types.ts";
export type * from "./runs/types.ts";
export { type ApprovalRegistry, createApprovals } from "./approvals/approvals.ts";
export type { ApprovalOptions, ChannelAnswers } from "./approvals/options.ts";
export { askForTool, type AskForTool, type AskForToolParts, type ToolQuestion } from "./approvals/ask-for-tool.ts";
export { type ChannelEventParts, createChannelEvents } from "./channel-events/channel-events.ts";
export { outcomeText } from "./approvals/outcome.ts";
export { promptParts } from "./approvals/prompt-text.ts";
export { approvalJson } from "./json/approval-json.ts";
export { auditJson, runDetailJson, runJson } from "./json/run-json.ts";
export { sopJson } from "./json/sop-json.ts";
export { fillArgs, referencesIn } from "./library/args.ts";
export { type CheckOptions, checkSopFolder, checkSops } from "./library/check.ts";
export type { CheckedSop } from "./library/definition.ts";
export { createLibrary, type LibraryOptions } from "./library/library.ts";
export { gateOf } from "./library/mode.ts";
export { type CronMarks, cronMarks } from "./triggers/cron-marks.ts";
export {
  createCronSchedule,
  type CronSchedule,
  type CronScheduleOptions,
  type DueCron,
  type FireCron,
} from "./triggers/cron-schedule.ts";
export { createAuditLog } from "./audit/audit-log.ts";
export { createSops, type SopEngine, type SopsOptions } from "./runs/sops.ts";
export { SOP_TOOLS, type SopDoors, sopTools } from "./tools/sop-tools.ts";
