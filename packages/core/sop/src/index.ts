/** `@svc/sop`: procedures, their triggers and runs; approvals. */
export type * from "./approvals/types.ts";
export type * from "./channel-events/types.ts";
export type * from "./library/types.ts";
export type * from "./runs/types.ts";
export { approvalJson } from "./json/approval-json.ts";
export { auditJson, runDetailJson, runJson } from "./json/run-json.ts";
export { sopJson } from "./json/sop-json.ts";
