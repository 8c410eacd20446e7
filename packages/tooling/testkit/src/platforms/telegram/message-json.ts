/** A message of the bot's, as the platform tells it back. https://core.telegram.org/bots/api#message */
import type { Json } from "@svc/contract";
import type { TelegramChat, TelegramSent } from "./chats.ts";

export interface BotUser {
  readonly id: number;
  readonly username: string;
  readonly name: string;
}

export const botJson = ({ id, username, name }: BotUser): Record<string, Json> => ({
  id,
  is_bot: true,
  first_name: name,
  username,
});

function chatJson({ topics: _topics, forbids: _forbids, ...chat }: TelegramChat): Record<string, Json> {
  return { ...chat };
}

export function sentJson(sent: TelegramSent, chat: TelegramChat, bot: BotUser, atMs: number): Record<string, Json> {
  const { messageId, threadId, text, entities, buttons, callbackData, file, edits, repliesTo } = sent;
  const formatted: Json = entities.map((entity) => ({ ...entity }));
  const words =
    text === "" ? {} : file ? { caption: text, caption_entities: formatted } : { text, entities: formatted };
  const date = Math.floor(atMs / 1000);
  return {
    message_id: messageId,
    ...(threadId !== undefined && { message_thread_id: threadId, is_topic_message: true }),
    from: botJson(bot),
    chat: chatJson(chat),
    date,
    ...(edits > 0 && { edit_date: date }),
    ...words,
    ...(file && { [file.kind]: fileJson(file.kind, file.bytes.length) }),
    ...(repliesTo !== undefined && { reply_to_message: { message_id: repliesTo, chat: chatJson(chat), date } }),
    ...(buttons.length > 0 && {
      reply_markup: {
        inline_keyboard: buttons.map((label, at) => [{ text: label, callback_data: callbackData[at] as string }]),
      },
    }),
  };
}

function fileJson(kind: string, size: number): Json {
  const file = { file_id: `sent-${kind}`, file_unique_id: `sent-${kind}`, file_size: size };
  return kind === "photo" ? [{ ...file, width: 100, height: 100 }] : file;
}
