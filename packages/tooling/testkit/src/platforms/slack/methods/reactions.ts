/** https://docs.slack.dev/reference/methods/reactions.add, reactions.remove */
import { SlackRefusal } from "../refusal.ts";
import { SLACK_BOT, type SlackStored } from "../workspace.ts";
import { conversationAt, isTs, type Method, type MethodCall } from "./method.ts";

export const add: Method = {
  scopes: ["reactions:write"],
  args: ["channel", "timestamp", "name"],
  handle(call) {
    const { message, reaction } = reacted(call);
    if (message.reactions.has(reaction)) throw new SlackRefusal("already_reacted");
    message.reactions.add(reaction);
    return {};
  },
};

export const remove: Method = {
  scopes: ["reactions:write"],
  args: ["channel", "timestamp", "name", "file", "file_comment"],
  handle(call) {
    const { message, reaction } = reacted(call);
    if (!message.reactions.delete(reaction)) throw new SlackRefusal("no_reaction");
    return {};
  },
};

function reacted({ args, workspace }: MethodCall): { message: SlackStored; reaction: string } {
  const name = args.needed("name", "invalid_name");
  if (!/^[a-z0-9_+'-]{1,100}(?:::skin-tone-[2-6])?$/.test(name)) throw new SlackRefusal("invalid_name");
  const conversation = conversationAt(workspace, args.needed("channel", "channel_not_found"));
  const ts = args.needed("timestamp", "no_item_specified");
  if (!isTs(ts)) throw new SlackRefusal("bad_timestamp");
  if (conversation.isArchived) throw new SlackRefusal("is_archived");
  const message = workspace.find(conversation, ts);
  if (message === undefined) throw new SlackRefusal("message_not_found");
  return { message, reaction: `${name} ${SLACK_BOT.user}` };
}
