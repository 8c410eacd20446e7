/** `@svc/agent`: models, tools, sessions, the turn. */
export { createAgent } from "./agent.ts";
export type { AgentOptions } from "./agent.ts";
export {
  Attachments,
  MAX_FILE_BYTES,
  MAX_UNSENT,
  type OpenedFile,
  type UploadBody,
} from "./attachments/attachments.ts";
export { isRasterImage, RASTER_TYPES, sniffType } from "./attachments/sniff.ts";
export { createPolicy, type Policy, type PolicyOptions } from "./policy/index.ts";
export { NOT_TRANSCRIBED, transcriptText } from "./attachments/question.ts";
export { type Command, commandOf } from "./commands/command.ts";
export { COMMAND_HELP, type CommandHelp } from "./commands/words.ts";
export {
  type AlwaysRule,
  type CallPattern,
  isAlwaysAllowed,
  type ApprovalScope,
  approvalScopeOf,
  ruleIdOf,
  textOf as ruleTextOf,
} from "./policy/approval-scope.ts";
export { ActionHistories, type ActionHistory, type ActionJournal } from "./policy/action-history.ts";
export { chooseSandbox, probeSandbox, type SandboxChoice, type SandboxInForce } from "./sandbox/choose-sandbox.ts";
export { type CommandUser, commandUser } from "./sandbox/command-user.ts";
export { callerOf } from "./loan.ts";
export { mayPass, ModelError } from "./models/model-error.ts";
export { listModels } from "./models/list-models.ts";
export { confinementOf, LIMIT_KEYS } from "./sandbox/confinement.ts";
export { movablePath } from "./sandbox/movable-path.ts";
export { noneBackend } from "./sandbox/choose-sandbox.ts";
export { createExec } from "./sandbox/exec.ts";
export { approvalOf } from "./tools/permit.ts";
export { callTool, type CallOutcome } from "./tools/call-tool.ts";
export type { CallRequest } from "./tools/permit.ts";
export { keepQuestion } from "./turn/checkpoint.ts";
export { newSessionName } from "./turn/history.ts";
export { isStopCommand } from "./turn/stop-command.ts";
export { choosableNames } from "./models/agent-models.ts";
export { modelName } from "./models/open-model.ts";
export type { ModelTest } from "./models/test-model.ts";
export { isPriceKnown } from "./money/meter.ts";
export { utcDay } from "./money/budget.ts";
export type { AgentProfile, AgentSet } from "./profiles.ts";
export { type ExportFormat, type ExportedSession, exportSession } from "./sessions/export.ts";
export { checkedTitle, foundJson, pageJson, sessionJson, type SessionOwner } from "./sessions/session-json.ts";
export { authorOfSender, lanesOfOwner, sessionIn, sessionMessageOf } from "./sessions/session-message.ts";
export type * from "./sessions/types.ts";
export type { CoreTool, CoreToolContext, PinnedCall } from "./tools/core-tool-context.ts";
export type { ToolEnvironment } from "./tools/environment.ts";
export { isPostponed } from "@svc/contract";
export type * from "./types.ts";
export { openWorkspace, workspaceRoot } from "./workspace/index.ts";
export { DAY_FOLDER, MEDIA_FOLDER, mediaPath } from "./workspace/media-path.ts";
