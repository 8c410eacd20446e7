/** Where the words of a message come from, when they are not all the sender's own: what it replies to, whom it forwards. */
import { type Fields, fieldsOf, idOf, someFields, textOf, wordOf } from "../fields.ts";
import { cardText } from "./cards.ts";
import type { Me } from "./entities.ts";
import { mediaOf } from "./media.ts";

/** The message that this one replies to; undefined where there is none that anybody chose. */
export function repliedTo(message: Fields): Fields | undefined {
  const replied = someFields(message["reply_to_message"]);
  // In a topic, what replies to nothing comes as a reply to the topic's beginning.
  const isTopic = message["is_topic_message"] === true && replied?.["message_id"] === message["message_thread_id"];
  return isTopic || replied?.["forum_topic_created"] !== undefined ? undefined : replied;
}

/** Id of the message that it replies to, as a receipt has it; of one in another chat, or a story, no id of this chat. */
export function repliedToId(message: Fields): string | undefined {
  const id = idOf(repliedTo(message)?.["message_id"]);
  if (id !== undefined) return String(id);
  return someFields(message["external_reply"] ?? message["reply_to_story"]) && "elsewhere";
}

export const isOurs = (message: Fields | undefined, { id }: Me): boolean =>
  id !== undefined && fieldsOf(message?.["from"])["id"] === id;

/**
 * `[In reply to Ada: "…"]`; blank when there is nothing to tell. A question with buttons is answered by the words alone:
 * its own words in between would be taken for a part of the answer.
 */
export function replyNote(message: Fields, me: Me): string {
  const replied = repliedTo(message);
  if (isOurs(replied, me) && replied?.["reply_markup"] !== undefined) return "";
  const quote = textOf(fieldsOf(message["quote"])["text"]);
  const words = quote ?? (replied && wordsOf(replied)) ?? externalWords(message);
  if (words === undefined) return "";
  const who = isOurs(replied, me) ? "your message" : (replied && nameOf(fieldsOf(replied["from"]))) || "a message";
  return `[In reply to ${who}: "${onOneLine(words, MAX_QUOTE_CHARS)}"]`;
}

/** `[Forwarded from Ada]`; blank when they are the sender's own words. https://core.telegram.org/bots/api#messageorigin */
export function forwardNote(message: Fields): string {
  const origin = someFields(message["forward_origin"]);
  if (origin === undefined) return "";
  const chat = fieldsOf(origin["sender_chat"] ?? origin["chat"]);
  const name =
    nameOf(fieldsOf(origin["sender_user"])) ||
    wordOf(origin["sender_user_name"]) ||
    wordOf(chat["title"]) ||
    "somebody";
  return `[Forwarded from ${onOneLine(name, MAX_NAME_CHARS)}]`;
}

/**
 * `[Sent by way of @gif]`; blank when the sender typed it. The inline bot chose the words: without the note in front, a bot could
 * answer a question in an approver's name. https://core.telegram.org/bots/inline
 */
export function inlineBotNote(message: Fields): string {
  const bot = someFields(message["via_bot"]);
  const name = wordOf(bot?.["username"]);
  return bot === undefined
    ? ""
    : `[Sent by way of ${name === undefined ? "a bot" : `@${onOneLine(name, MAX_NAME_CHARS)}`}]`;
}

const MAX_QUOTE_CHARS = 300;
const MAX_NAME_CHARS = 80;

function wordsOf(message: Fields): string | undefined {
  const said = textOf(message["text"]) ?? textOf(message["caption"]);
  return [mediaOf(message)?.words, said].filter((part) => part !== undefined).join(" ") || cardText(message);
}

/** A reply to something in another chat. */
function externalWords(message: Fields): string | undefined {
  const external = someFields(message["external_reply"]);
  return external && (mediaOf(external)?.words ?? cardText(external));
}

const nameOf = ({ first_name: first, last_name: last, username }: Fields): string =>
  onOneLine([wordOf(first), wordOf(last)].filter((part) => part).join(" ") || (wordOf(username) ?? ""), MAX_NAME_CHARS);

/** So that nothing of it can be read as something else than a quote. */
function onOneLine(text: string, maxChars: number): string {
  const line = text.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars).toWellFormed().trimEnd()}…`;
}
