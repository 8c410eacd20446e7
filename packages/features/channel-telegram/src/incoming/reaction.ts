/** A reaction that somebody set on a message, or took back. https://core.telegram.org/bots/api#messagereactionupdated */
import type { Inbound } from "@svc/contract";
import { type Fields, fieldsOf, idOf, listOf, textOf } from "../fields.ts";
import { CHANNEL } from "../names.ts";
import type { MessageReading } from "./message.ts";

/** Undefined for who may not write. `updateId`: a reaction has no id of its own. */
export function readReaction(
  reaction: Fields,
  updateId: number,
  { me, senderOf }: Pick<MessageReading, "me" | "senderOf">,
  receivedAtMs: number,
): Inbound | undefined {
  const [chatId, messageId] = [idOf(fieldsOf(reaction["chat"])["id"]), idOf(reaction["message_id"])];
  if (chatId === undefined || messageId === undefined) return undefined;
  const sender = senderOf(reaction);
  if (sender === undefined) return undefined;
  const emoji = listOf(reaction["new_reaction"]).map((one) => textOf(fieldsOf(one)["emoji"]) ?? "");
  return {
    kind: "reaction",
    id: `${me.id}:update:${updateId}`,
    conversation: { channel: CHANNEL, id: String(chatId) },
    ...sender,
    text: emoji.join("").slice(0, MAX_CHARS).toWellFormed(),
    sentAtMs: receivedAtMs,
    replyData: { messageId },
  };
}

/** Premium users may set three. */
const MAX_CHARS = 100;
