/** `@svc/store`: durable state. */
export * from "./home-lock.ts";
export * from "./store.ts";
export type * from "./types.ts";
export type { DeviceStore } from "./devices.ts";
export type { IdempotencyStore } from "./idempotency.ts";
export type { SessionStore } from "./sessions.ts";
export type { ToolCallStore, ToolCallRecord } from "./tool-calls.ts";
