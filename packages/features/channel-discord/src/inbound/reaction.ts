/** https://docs.discord.com/developers/events/gateway-events#message-reaction-add */
import type { Inbound } from "@svc/contract";
import { type Fields, fieldsOf, wordOf } from "../api/fields.ts";
import { idOf } from "../api/snowflake.ts";
import { CHANNEL } from "../names.ts";
import { nameOf, type Self } from "./people.ts";

/** Of what the bot wrote, and in direct messages of anything. Undefined for others', and for those of bots. */
export function reactionOf(self: Self, reaction: Fields): Inbound | undefined {
  const [sender, channelId] = [idOf(reaction["user_id"]), idOf(reaction["channel_id"])];
  const messageId = idOf(reaction["message_id"]);
  const emoji = wordOf(fieldsOf(reaction["emoji"])["name"]);
  if (sender === undefined || channelId === undefined || messageId === undefined || emoji === undefined)
    return undefined;
  const member = fieldsOf(reaction["member"]);
  const user = fieldsOf(member["user"]);
  if (sender === self.userId || user["bot"] === true) return undefined;
  const isOnServer = idOf(reaction["guild_id"]) !== undefined;
  if (isOnServer && reaction["message_author_id"] !== self.userId) return undefined;
  const name = nameOf(user, member);
  return {
    kind: "reaction",
    id: `reaction-${messageId}-${sender}-${idOf(fieldsOf(reaction["emoji"])["id"]) ?? emoji}`.slice(0, 512),
    conversation: { channel: CHANNEL, id: channelId },
    sender,
    ...(name !== undefined && { senderName: name }),
    ...(isOnServer && { group: true }),
    text: emoji,
  };
}
