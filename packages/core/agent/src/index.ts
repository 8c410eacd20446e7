/** `@svc/agent`: models, tools, sessions, the turn. */
export { type AgentOptions, createAgent } from "./agent.ts";
export {
  Attachments,
  isRasterImage,
  MAX_FILE_BYTES,
  MAX_UNSENT,
  type OpenedFile,
  RASTER_TYPES,
  sniffType,
  type UploadBody,
} from "./attachments.ts";
export { type Command, COMMAND_HELP, type CommandHelp, commandOf, isStopCommand } from "./command-words.ts";
export {
  type Attempted,
  ConversationQueue,
  type ConversationQueueDeps,
  type QueuedItem,
  type Run,
  suspectDelayMs,
} from "./conversation-queue.ts";
export { isPriceKnown, utcDay } from "./cost.ts";
export { callerOf } from "./loan.ts";
export { choosableNames } from "./models/agent-models.ts";
export { listModels } from "./models/list-models.ts";
export { mayPass, ModelError } from "./models/model-error.ts";
export { modelName } from "./models/agent-models.ts";
export { ActionHistories, type ActionHistory, type ActionJournal } from "./policy/action-history.ts";
export {
  type AlwaysRule,
  type ApprovalScope,
  approvalScopeOf,
  type CallPattern,
  isAlwaysAllowed,
  ruleIdOf,
  textOf as ruleTextOf,
} from "./policy/approval-scope.ts";
export { createPolicy, type Policy, type PolicyOptions } from "./policy/index.ts";
export type { AgentProfile, AgentSet } from "./profiles.ts";
export {
  chooseSandbox,
  noneBackend,
  probeSandbox,
  type SandboxChoice,
  type SandboxInForce,
} from "./sandbox/choose-sandbox.ts";
export { commandUser, type CommandUser } from "./sandbox/command-user.ts";
export { confinementOf, LIMIT_KEYS } from "./sandbox/confinement.ts";
export { createExec } from "./sandbox/exec.ts";
export { movablePath } from "./sandbox/movable-path.ts";
export {
  checkedTitle,
  type ExportedSession,
  type ExportFormat,
  exportSession,
  foundJson,
  pageJson,
  sessionJson,
  type SessionOwner,
} from "./sessions/session-json.ts";
export { authorOfSender, sessionMessageOf } from "./sessions/sessions.ts";
export type * from "./sessions/types.ts";
export { type CallOutcome, callTool } from "./tools/call-tool.ts";
export type { CoreTool, CoreToolContext, PinnedCall, ToolEnvironment } from "./tools/environment.ts";
export { approvalOf, type CallRequest } from "./tools/permit.ts";
export { keepQuestion } from "./turn/turn-store.ts";
export { newSessionName, NOT_TRANSCRIBED, transcriptText } from "./turn/history.ts";
export type * from "./types.ts";
export { openWorkspace, workspaceRoot } from "./workspace/index.ts";
export { DAY_FOLDER, MEDIA_FOLDER, mediaPath } from "./workspace/media-path.ts";
export { isPostponed } from "@svc/contract";
