/**
 * What the platform tells, by either way: messages that people write, and presses on buttons of cards.
 * https://open.larksuite.com/document/server-docs/im-v1/message/events/receive,
 * https://open.larksuite.com/document/feishu-cards/card-callback-communication
 */
import type { Conversation, Inbound, Json, StateStore } from "@svc/contract";
import { type Fields, fieldsOf, listOf, parseJson, wordOf } from "@svc/kit";
import { choiceOf } from "./cards.ts";
import { type Mention, contentOf, mentionsOf } from "./content.ts";
import { chatId, messageId, personId, timeOf } from "./ids.ts";
import type { Languages } from "./language.ts";

export interface Reader {
  /** Id of the channel. */
  readonly channel: string;
  readonly appId: string;
  readonly mentionOnly: boolean;
  /** Open ID of the bot; undefined until the platform has told it. */
  readonly bot: () => string | undefined;
  readonly questions: Pick<Questions, "has">;
  readonly languages: Pick<Languages, "heard">;
  /** Whether this sender is heard. Logs those who are not. */
  readonly isAllowed: (openId: string) => boolean;
}

/** Accepts any JSON: undefined for an unknown shape, or for an event that is not for the agent. */
export function inboundOf(payload: Json, reader: Reader): Inbound | undefined {
  const { header, event } = fieldsOf(payload);
  const { event_type: type, app_id: app, event_id: id } = fieldsOf(header);
  // Of another app, whose people are others.
  if (app !== reader.appId) return undefined;
  if (type === "im.message.receive_v1") return messageOf(fieldsOf(event), reader);
  if (type === "card.action.trigger") return pressOf(fieldsOf(event), fieldsOf(header), wordOf(id), reader);
  return undefined;
}

function messageOf({ sender, message }: Fields, reader: Reader): Inbound | undefined {
  const { sender_type: kind, sender_id: ids } = fieldsOf(sender);
  const from = personId(fieldsOf(ids)["open_id"]);
  const fields = fieldsOf(message);
  const [id, chat] = [messageId(fields["message_id"]), chatId(fields["chat_id"])];
  // Bots would answer each other for ever.
  if (kind !== "user" || from === undefined || id === undefined || chat === undefined) return undefined;
  const isGroup = fields["chat_type"] !== "p2p";
  const [parent, root] = [messageId(fields["parent_id"]), messageId(fields["root_id"])];
  const mentions = mentionsOf(fields["mentions"]);
  const isMeant = !isGroup || !reader.mentionOnly || isMentioned(mentions, reader) || isAnswer([parent, root], reader);
  if (!isMeant || from === reader.bot() || !reader.isAllowed(from)) return undefined;
  const content = contentOf(fields, id, mentions);
  if (content === undefined) return undefined;
  const text = withoutMention(content.text, mentions, reader);
  if (text.trim() === "") return undefined;
  reader.languages.heard(id, from, text);
  // The first message of a thread has no root; every message of a thread has the thread's id.
  const thread = wordOf(fields["thread_id"]) === undefined ? undefined : (root ?? id);
  const sentAtMs = timeOf(fields["create_time"]);
  return {
    id,
    conversation: placeOf(reader.channel, chat, thread),
    sender: from,
    ...(isGroup && { group: true, replyData: { messageId: id } }),
    text,
    ...(content.media.length > 0 && { media: content.media }),
    ...(parent !== undefined && parent !== thread && { repliesTo: parent }),
    ...(content.isSecondHand && { secondHand: true }),
    ...(sentAtMs !== undefined && { sentAtMs }),
  };
}

export const placeOf = (channel: string, id: string, thread: string | undefined): Conversation => ({
  channel,
  id,
  ...(thread !== undefined && { thread }),
});

/** While the platform has not told who the bot is, any bot may be meant. */
function isMentioned(mentions: readonly Mention[], { bot }: Reader): boolean {
  const own = bot();
  return mentions.some(({ openId, isBot }) => (own === undefined ? isBot : openId === own));
}

const isAnswer = (to: readonly (string | undefined)[], { questions }: Reader): boolean =>
  to.some((id) => id !== undefined && questions.has(id));

/** A mention of the bot at the beginning only says who is meant. */
function withoutMention(text: string, mentions: readonly Mention[], { bot }: Reader): string {
  const own = mentions.find(({ openId, isBot }) => (bot() === undefined ? isBot : openId === bot()));
  if (own === undefined || !text.trimStart().startsWith(`@${own.name}`)) return text;
  const rest = text
    .trimStart()
    .slice(own.name.length + 1)
    .trimStart();
  // Someone who only calls the bot wants something of it.
  return rest === "" ? text : rest;
}

function pressOf(event: Fields, header: Fields, id: string | undefined, reader: Reader): Inbound | undefined {
  const sender = personId(fieldsOf(event["operator"])["open_id"]);
  const context = fieldsOf(event["context"]);
  const [chat, message] = [chatId(context["open_chat_id"]), messageId(context["open_message_id"])];
  const pressed = choiceOf(fieldsOf(event["action"])["value"]);
  if (sender === undefined || chat === undefined || message === undefined || pressed === undefined) return undefined;
  if (!reader.isAllowed(sender)) return undefined;
  const sentAtMs = timeOf(header["create_time"]);
  return {
    ...(id !== undefined && { id: `press:${id}` }),
    conversation: placeOf(reader.channel, chat, pressed.thread),
    sender,
    text: pressed.label,
    choice: pressed.choice,
    ...(sentAtMs !== undefined && { sentAtMs }),
  };
}

/** Questions of ours in groups, by their message ids: a reply to one is meant for the bot, although it may not mention it. */
export interface Questions {
  has(id: string): boolean;
  /** Resolves once it is on disk, or can't be put there: it is known at least as long as this process lives. */
  add(id: string): Promise<void>;
  load(): Promise<void>;
}

const MOST = 500;
const NAME = "questions";

export function questionsIn(state: StateStore): Questions {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    async add(id) {
      ids.add(id);
      for (const oldest of ids) if (ids.size > MOST) ids.delete(oldest);
      await state.set(NAME, JSON.stringify([...ids])).catch(() => undefined);
    },
    async load() {
      // A command without a store registers the channel too.
      const text = await state.get(NAME).catch(() => undefined);
      for (const id of text === undefined ? [] : listOf(parseJson(Buffer.from(text)))) {
        const known = messageId(id);
        if (known !== undefined) ids.add(known);
      }
    },
  };
}
