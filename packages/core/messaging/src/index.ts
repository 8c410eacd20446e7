/** `@svc/messaging`: the inbox, the turns of its messages, the outbox, and both as an operator sees them. */
export { messageDetailJson, messageJson } from "./admin.ts";
export { channelSendTool, sendByPerson } from "./channel-send.ts";
export { newMessageOf } from "./inbox.ts";
export { removeFiles, removeLeftovers } from "./media/remove-files.ts";
export { createMessaging, type MessagingOptions } from "./messaging.ts";
export type { ProgramRequest, RunProgram } from "./speech/backends.ts";
export type * from "./types.ts";
