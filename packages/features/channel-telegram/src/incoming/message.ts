/** A message of the platform as one of the service. https://core.telegram.org/bots/api#message */
import type { Conversation, Inbound } from "@svc/contract";
import { type Fields, fieldsOf, idOf, numberOf, textOf, wordOf } from "../fields.ts";
import { CHANNEL } from "../names.ts";
import { cardText } from "./cards.ts";
import { commandOf } from "./command.ts";
import { forwardNote, inlineBotNote, isOurs, repliedTo, repliedToId, replyNote } from "./context.ts";
import { isMentioned, type Me, readableText } from "./entities.ts";
import { mediaOf } from "./media.ts";
import { inboundId } from "./message-id.ts";
import type { SenderReader } from "./senders.ts";

/** What `send` is handed back with the answer: in a group it replies to the question. */
export interface ReplyData {
  readonly messageId: number;
}

export interface ReadMessage {
  readonly inbound: Inbound;
  /** What the sender said, without what it replies to. */
  readonly said: string;
  /** Whether it is meant for us: of an album one picture's text says so. */
  readonly isForUs: boolean;
  /** Those of one album have the same. */
  readonly albumId: string | undefined;
}

export interface MessageReading {
  readonly me: Me & { readonly id: number };
  readonly mentionOnly: boolean;
  readonly senderOf: SenderReader;
}

/** Undefined for what nobody said, for what is said to another bot, and for who may not write. */
export function readMessage(
  message: Fields,
  { me, mentionOnly, senderOf }: MessageReading,
  receivedAtMs: number,
): ReadMessage | undefined {
  const place = placeOf(message);
  const text = textOf(message["text"]) ?? textOf(message["caption"]) ?? "";
  const entities = message["text"] === undefined ? message["caption_entities"] : message["entities"];
  const file = mediaOf(message);
  const words = [file?.words, text === "" ? undefined : readableText(text, entities, me)];
  const content = words.filter((part) => part !== undefined).join("\n") || cardText(message);
  if (place === undefined || content === undefined) return undefined;

  const command = commandOf(content, me);
  if (place.isGroup && command?.addressee === "others") return undefined;
  const albumId = wordOf(message["media_group_id"]);
  const isForUs =
    !place.isGroup ||
    !mentionOnly ||
    command?.addressee === "ours" ||
    isOurs(repliedTo(message), me) ||
    isMentioned(text, entities, me);
  // Who talks to others in a group is nobody's business, and not the log's.
  if (!isForUs && albumId === undefined) return undefined;
  const sender = senderOf(message);
  if (sender === undefined) return undefined;

  const said = command?.text ?? content;
  const notes =
    command === undefined ? [inlineBotNote(message), forwardNote(message), said, replyNote(message, me)] : [said];
  const { chatId, messageId } = place;
  const repliesTo = repliedToId(message);
  return {
    said,
    isForUs,
    albumId,
    inbound: {
      id: inboundId(me.id, { chatId, messageId }),
      conversation: place.conversation,
      ...sender,
      ...(place.isGroup && { group: true, replyData: { messageId } satisfies ReplyData }),
      text: notes.filter((note) => note !== "").join("\n\n"),
      ...(file && { media: [file.media] }),
      ...(repliesTo !== undefined && { repliesTo }),
      sentAtMs: timeOf(message, receivedAtMs),
    },
  };
}

interface Place {
  readonly chatId: number;
  readonly messageId: number;
  readonly isGroup: boolean;
  readonly conversation: Conversation;
}

/** Undefined for channels, for what only one person of a group sees, and for what is no message of a chat at all. */
function placeOf(message: Fields): Place | undefined {
  const chat = fieldsOf(message["chat"]);
  const [chatId, messageId] = [idOf(chat["id"]), idOf(message["message_id"])];
  const isGroup = chat["type"] === "group" || chat["type"] === "supergroup";
  const isKnown = (isGroup && chat["is_direct_messages"] !== true) || chat["type"] === "private";
  if (chatId === undefined || messageId === undefined || messageId < 0 || !isKnown) return undefined;
  return { chatId, messageId, isGroup, conversation: conversationOf(chatId, message) };
}

/**
 * A topic is a conversation of its own. The platform numbers threads of replies too, which are none; and General, which has
 * the number 1, takes messages only without it.
 */
export function conversationOf(chatId: number, message: Fields): Conversation {
  const thread = message["is_topic_message"] === true ? idOf(message["message_thread_id"]) : undefined;
  const isTopic = thread !== undefined && thread > 1;
  return { channel: CHANNEL, id: String(chatId), ...(isTopic && { thread: String(thread) }) };
}

/** Seconds; beyond what a date can hold it is no time. */
function timeOf({ date }: Fields, receivedAtMs: number): number {
  const secs = numberOf(date) ?? 0;
  return secs > 0 && secs <= 8.64e12 ? Math.floor(secs) * 1000 : receivedAtMs;
}
