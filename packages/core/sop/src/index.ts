/** `@svc/sop`: procedures, their triggers and runs; approvals. */
export type * from "./approvals/types.ts";
export type * from "./channel-events/types.ts";
export type * from "./library/types.ts";
export type * from "./runs/types.ts";
