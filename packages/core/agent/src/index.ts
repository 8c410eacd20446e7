/** `@svc/agent`: models, tools, sessions, the turn. */
export { type Agent, type AgentOptions, createAgent } from "./agent.ts";
export { createPolicy, type Policy, type PolicyOptions } from "./policy/index.ts";
export { ActionHistories, type ActionHistory, type ActionJournal } from "./policy/action-history.ts";
export { chooseSandbox, type SandboxChoice } from "./sandbox/choose-sandbox.ts";
export { noneBackend } from "./sandbox/none-backend.ts";
export { createExec } from "./sandbox/exec.ts";
export { approvalOf, callTool, type CallOutcome, type CallRequest } from "./tools/call-tool.ts";
export { modelName } from "./models/open-model.ts";
export type { ModelTest } from "./models/test-model.ts";
export { isPriceKnown } from "./money/price.ts";
export { utcDay } from "./money/utc-day.ts";
export type { AgentProfile, AgentSet } from "./profiles.ts";
export { messageJson, sessionJson } from "./sessions/session-json.ts";
export type * from "./sessions/types.ts";
export type { ToolEnvironment } from "./tools/environment.ts";
export type * from "./types.ts";
export { openWorkspace } from "./workspace/index.ts";
