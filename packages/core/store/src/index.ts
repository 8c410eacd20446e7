/** `@svc/store`: durable state. */
export * from "./check.ts";
export { copyDatabase } from "./copy.ts";
export * from "./home-lock.ts";
export { SCHEMA_VERSION } from "./migrations.ts";
export { newestTurnMs } from "./newest-turn.ts";
export * from "./store.ts";
export type * from "./message-types.ts";
export type * from "./types.ts";
export type { DeviceStore } from "./devices.ts";
export type { IdempotencyStore } from "./idempotency.ts";
export type { InboxStore } from "./messages/inbox.ts";
export type { OutboxStore } from "./messages/outbox.ts";
export type { StepStore } from "./messages/steps.ts";
export type { SessionStore } from "./sessions.ts";
export type { StateTexts } from "./state.ts";
export type { JournalledCall, ToolCallStore, ToolCallRecord } from "./tool-calls.ts";
export type { UsageStore } from "./usage.ts";
export type { SealedText, VaultStore } from "./vault.ts";
