/** All methods that the fake has; what is not here is `unknown_method`. */
import type { Json } from "@svc/contract";
import { SlackRefusal } from "../refusal.ts";
import { SLACK_BOT, SLACK_TEAM } from "../workspace.ts";
import { postMessage, update } from "./chat.ts";
import { history, ofUser, open, replies } from "./conversations.ts";
import { conversationAt, isTs, type Method } from "./method.ts";
import { add, remove } from "./reactions.ts";
import { completeUpload, info, uploadUrl } from "./files.ts";

/** https://docs.slack.dev/reference/methods/auth.test */
const authTest: Method = {
  scopes: [],
  args: [],
  handle: () => ({
    url: `https://${SLACK_TEAM.domain}.slack.com/`,
    team: SLACK_TEAM.name,
    user: SLACK_BOT.name,
    team_id: SLACK_TEAM.id,
    user_id: SLACK_BOT.user,
    bot_id: SLACK_BOT.bot,
    is_enterprise_install: false,
  }),
};

/** https://docs.slack.dev/reference/methods/users.info */
const userInfo: Method = {
  scopes: ["users:read"],
  args: ["user", "include_locale"],
  handle({ args, workspace }): Record<string, Json> {
    const person = workspace.people.get(args.needed("user", "user_not_found"));
    if (person === undefined) throw new SlackRefusal("user_not_found");
    const { id, name, displayName = "", deleted = false } = person;
    const profile = { real_name: name, display_name: displayName };
    return { user: { id, team_id: SLACK_TEAM.id, name, real_name: name, deleted, is_bot: false, profile } };
  },
};

/** https://docs.slack.dev/reference/methods/assistant.threads.setStatus */
const setStatus: Method = {
  scopes: ["chat:write"],
  args: ["channel_id", "thread_ts", "status", "loading_messages"],
  handle({ args, workspace, notes }) {
    const conversation = conversationAt(workspace, args.needed("channel_id"));
    const ts = args.needed("thread_ts");
    if (!isTs(ts) || workspace.find(conversation, ts) === undefined) throw new SlackRefusal("invalid_thread_ts");
    notes.status(`${conversation.id} ${ts} ${args.raw("status") ?? ""}`);
    return {};
  },
};

export const METHODS: Readonly<Record<string, Method>> = {
  "assistant.threads.setStatus": setStatus,
  "auth.test": authTest,
  "chat.postMessage": postMessage,
  "chat.update": update,
  "conversations.history": history,
  "conversations.open": open,
  "conversations.replies": replies,
  "files.completeUploadExternal": completeUpload,
  "files.getUploadURLExternal": uploadUrl,
  "files.info": info,
  "reactions.add": add,
  "reactions.remove": remove,
  "users.conversations": ofUser,
  "users.info": userInfo,
};
