/** `@svc/agent`: models, tools, sessions, the turn. */
export * from "./agent.ts";
export { modelName, modelProblem } from "./models/open-model.ts";
export { approvalOf, callTool, type CallOutcome, type CallRequest } from "./tools/call-tool.ts";
export type { CallPolicy, ToolEnvironment, Verdict } from "./tools/environment.ts";
export type * from "./types.ts";
