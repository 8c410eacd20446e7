/** Methods that change what was sent. https://core.telegram.org/bots/api#updating-messages */
import type { Json } from "@svc/contract";
import { isDeepStrictEqual } from "node:util";
import { badRequest } from "./answer.ts";
import type { Chats, TelegramSent } from "./chats.ts";
import { isReactionEmoji } from "./emoji.ts";
import { buttonsOf } from "./keyboard.ts";
import type { Parameters, ParameterSpec } from "./parameters.ts";
import { messageText } from "./text.ts";

const PLACE: ParameterSpec = { chat_id: "chat!", message_id: "integer!" };

export const EDIT_TEXT: ParameterSpec = {
  ...PLACE,
  text: "text!",
  parse_mode: "text",
  link_preview_options: "object",
  reply_markup: "object",
};
export const EDIT_MARKUP: ParameterSpec = { ...PLACE, reply_markup: "object" };
export const SET_REACTION: ParameterSpec = { ...PLACE, reaction: "list", is_big: "boolean" };

export function editText(chats: Chats, { values }: Parameters): TelegramSent {
  const before = ownOf(chats, values);
  if (before.file !== undefined) throw badRequest("there is no text in the message to edit");
  const { text, entities } = messageText(values["text"], values["parse_mode"]);
  return changed(chats, before, { text, entities, ...buttonsOf(values["reply_markup"]) });
}

export const editMarkup = (chats: Chats, { values }: Parameters): TelegramSent =>
  changed(chats, ownOf(chats, values), buttonsOf(values["reply_markup"]));

const ownOf = (chats: Chats, values: Parameters["values"]): TelegramSent =>
  chats.own(chats.find(values["chat_id"] as Json).id, values["message_id"] as number);

function changed(chats: Chats, before: TelegramSent, change: Partial<TelegramSent>): TelegramSent {
  if (isDeepStrictEqual({ ...before, ...change }, before)) {
    throw badRequest(
      "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
    );
  }
  return chats.edit(before, change);
}

export interface Reaction {
  readonly chatId: number;
  readonly messageId: number;
  /** None: it was taken back. */
  readonly emoji: readonly string[];
}

export function setReaction(chats: Chats, { values }: Parameters): Reaction {
  const { id: chatId } = chats.find(values["chat_id"] as Json);
  const messageId = values["message_id"] as number;
  if (!chats.has(chatId, messageId)) throw badRequest("message to react not found");
  const reactions = (values["reaction"] ?? []) as Record<string, Json>[];
  if (reactions.length > 1) throw badRequest("REACTIONS_TOO_MANY");
  const emoji = reactions.map((one) => {
    if (one["type"] !== "emoji" || !isReactionEmoji(one["emoji"])) throw badRequest("REACTION_INVALID");
    return one["emoji"] as string;
  });
  return { chatId, messageId, emoji };
}
