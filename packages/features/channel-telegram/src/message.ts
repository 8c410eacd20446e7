/** A message of the platform as one of the service: who wrote it, where, to whom. https://core.telegram.org/bots/api#message */
import type { Conversation, Inbound, Logger } from "@svc/contract";
import { isAllowed, senderGate } from "@svc/kit";
import { cardText, isMentioned, type Me, mediaOf, readableText } from "./content.ts";
import { CHANNEL, COMMANDS, type Fields, fieldsOf, idOf, numberOf, someFields, textOf, wordOf } from "./protocol.ts";

/** What `send` is handed back with the answer: in a group it replies to the question. */
export interface ReplyData {
  readonly messageId: number;
}

export interface ReadMessage {
  readonly inbound: Inbound;
  /** The sender's own text, without the quoted message. */
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

/** Undefined for a message without content, for one to another bot, and for a sender who is not allowed. */
export function readMessage(
  message: Fields,
  { me, mentionOnly, senderOf }: MessageReading,
  receivedAtMs: number,
): ReadMessage | undefined {
  const origin = originOf(message);
  const text = textOf(message["text"]) ?? textOf(message["caption"]) ?? "";
  const entities = message["text"] === undefined ? message["caption_entities"] : message["entities"];
  const file = mediaOf(message);
  const words = [file?.words, text === "" ? undefined : readableText(text, entities, me)];
  const content = words.filter((part) => part !== undefined).join("\n") || cardText(message);
  if (origin === undefined || content === undefined) return undefined;

  const command = commandOf(content, me);
  if (origin.isGroup && command?.addressee === "others") return undefined;
  const albumId = wordOf(message["media_group_id"]);
  const isForUs =
    !origin.isGroup ||
    !mentionOnly ||
    command?.addressee === "ours" ||
    isOurs(repliedTo(message), me) ||
    isMentioned(text, entities, me);
  // Privacy: what people say to each other in a group must not reach the log, which `senderOf` writes to.
  if (!isForUs && albumId === undefined) return undefined;
  const sender = senderOf(message);
  if (sender === undefined) return undefined;

  const said = command?.text ?? content;
  const notes =
    command === undefined ? [inlineBotNote(message), forwardNote(message), said, replyNote(message, me)] : [said];
  const { chatId, messageId } = origin;
  const repliesTo = repliedToId(message);
  return {
    said,
    isForUs,
    albumId,
    inbound: {
      id: inboundId(me.id, { chatId, messageId }),
      conversation: origin.conversation,
      ...sender,
      ...(origin.isGroup && { group: true, replyData: { messageId } satisfies ReplyData }),
      text: notes.filter((note) => note !== "").join("\n\n"),
      ...(file && { media: [file.media] }),
      ...(repliesTo !== undefined && { repliesTo }),
      sentAtMs: timeOf(message, receivedAtMs),
    },
  };
}

interface Origin {
  readonly chatId: number;
  readonly messageId: number;
  readonly isGroup: boolean;
  readonly conversation: Conversation;
}

/** Undefined for channels, for ephemeral messages in a group, and for an object that is no message of a chat. */
function originOf(message: Fields): Origin | undefined {
  const chat = fieldsOf(message["chat"]);
  const [chatId, messageId] = [idOf(chat["id"]), idOf(message["message_id"])];
  const isGroup = chat["type"] === "group" || chat["type"] === "supergroup";
  const isKnown = (isGroup && chat["is_direct_messages"] !== true) || chat["type"] === "private";
  if (chatId === undefined || messageId === undefined || messageId < 0 || !isKnown) return undefined;
  return { chatId, messageId, isGroup, conversation: conversationOf(chatId, message) };
}

/**
 * A topic is a conversation of its own. The platform numbers threads of replies too, which are no topics; and General, which has
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

/**
 * The id that a message is known by. The platform numbers the messages of each chat, and those of a private chat anew for
 * each bot: all three together name one.
 */
export interface MessageRef {
  readonly chatId: number;
  readonly messageId: number;
}

const inboundId = (botId: number, { chatId, messageId }: MessageRef): string => `${botId}:${chatId}:${messageId}`;

/** Undefined for an id of something else, such as a press. */
export function messageRefOf(inboundId: string): MessageRef | undefined {
  const [, chatId, messageId] = /^\d{1,16}:(-?\d{1,16}):([1-9]\d{0,15})$/.exec(inboundId) ?? [];
  return chatId === undefined ? undefined : { chatId: Number(chatId), messageId: Number(messageId) };
}

/** Commands as the platform writes them: `/new@svc_bot`. https://core.telegram.org/bots/features#commands */
export interface Command {
  /** As the core knows it, with what follows it. */
  readonly text: string;
  /** `ours`: it names this bot, or no bot and is on our menu. `others`: it names another bot. `unknown`: it names no bot. */
  readonly addressee: "ours" | "others" | "unknown";
}

/** Undefined for a text that is no command. */
export function commandOf(text: string, { username }: Me): Command | undefined {
  const [whole, given = "", to] = /^\s*\/(\w{1,32})(?:@(\w{1,64}))?(?=\s|$)/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const name = given.toLowerCase();
  const rest = text.slice(whole.length);
  const isOurs = to === undefined ? NAMES.has(name) : to.toLowerCase() === username?.toLowerCase();
  // Sent when a person opens the bot for the first time, with the parameter of the link.
  const normalised = name === "start" ? "/help" : `/${NAMES.has(name) ? name : given}${rest}`;
  return { text: normalised, addressee: isOurs ? "ours" : to === undefined ? "unknown" : "others" };
}

const NAMES: ReadonlySet<string> = new Set(COMMANDS.map(({ command }) => command));

// Text that is not the sender's own: the quoted message, and the origin of a forwarded one.

/** The message that the sender chose to reply to. */
function repliedTo(message: Fields): Fields | undefined {
  const replied = someFields(message["reply_to_message"]);
  // In a topic, what replies to nothing comes as a reply to the topic's beginning.
  const isTopic = message["is_topic_message"] === true && replied?.["message_id"] === message["message_thread_id"];
  return isTopic || replied?.["forum_topic_created"] !== undefined ? undefined : replied;
}

/** Id of the message that it replies to, as a receipt has it; of one in another chat, or a story, no id of this chat. */
function repliedToId(message: Fields): string | undefined {
  const id = idOf(repliedTo(message)?.["message_id"]);
  if (id !== undefined) return String(id);
  return someFields(message["external_reply"] ?? message["reply_to_story"]) && "elsewhere";
}

const isOurs = (message: Fields | undefined, { id }: Me): boolean =>
  id !== undefined && fieldsOf(message?.["from"])["id"] === id;

/**
 * `[In reply to Ada: "…"]`; blank without a reply. A question with buttons is answered by the words alone:
 * its own words in between would be taken for a part of the answer.
 */
function replyNote(message: Fields, me: Me): string {
  const replied = repliedTo(message);
  if (isOurs(replied, me) && replied?.["reply_markup"] !== undefined) return "";
  const quote = textOf(fieldsOf(message["quote"])["text"]);
  const words = quote ?? (replied && wordsOf(replied)) ?? externalWords(message);
  if (words === undefined) return "";
  const who = isOurs(replied, me) ? "your message" : (replied && nameOf(fieldsOf(replied["from"]))) || "a message";
  return `[In reply to ${who}: "${onOneLine(words, MAX_QUOTE_CHARS)}"]`;
}

/** `[Forwarded from Ada]`; blank when they are the sender's own words. https://core.telegram.org/bots/api#messageorigin */
function forwardNote(message: Fields): string {
  const origin = someFields(message["forward_origin"]);
  if (origin === undefined) return "";
  const chat = fieldsOf(origin["sender_chat"] ?? origin["chat"]);
  const name =
    nameOf(fieldsOf(origin["sender_user"])) || wordOf(origin["sender_user_name"]) || wordOf(chat["title"]) || "someone";
  return `[Forwarded from ${onOneLine(name, MAX_NAME_CHARS)}]`;
}

/**
 * `[Sent by way of @gif]`; blank when the sender typed it. The inline bot chose the words: without the note in front, a bot could
 * answer a question in an approver's name. https://core.telegram.org/bots/inline
 */
function inlineBotNote(message: Fields): string {
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

/**
 * Who may write: by id, which stays, or by @username, which its owner may give away. In groups it is the person that counts.
 */
export interface Sender {
  /** Their id; for who is an approver by @username that entry, since the core compares letter by letter. */
  readonly sender: string;
  readonly senderName?: string;
}

/** Undefined for a bot, for a person who is not on the list, and for an anonymous sender. */
type SenderReader = (message: Fields) => Sender | undefined;

export interface SenderLists {
  readonly allowed: readonly string[];
  readonly approvers: readonly string[];
  readonly log: Logger;
}

/** `message`: any update with a sender in `from` or `user`. */
export function senderReader({ allowed, approvers, log }: SenderLists): SenderReader {
  const entries = allowed.map(withoutAt);
  // Only asked about those who are turned away: it tells the log of each once.
  const turnAway = senderGate({ allowed: [], mode: "exact", log, channel: CHANNEL });
  return (message) => {
    // Anonymous administrators and channels speak as a group: the person is not known.
    if (message["sender_chat"] !== undefined) {
      turnAway("an anonymous sender, in the name of a group or channel");
      return undefined;
    }
    const user = fieldsOf(message["from"] ?? message["user"]);
    const id = idOf(user["id"]);
    if (id === undefined || id < 0 || user["is_bot"] !== false) return undefined;
    const username = usernameOf(user);
    const isOnList =
      isAllowed(entries, String(id), "exact") ||
      (username !== undefined && isAllowed(entries, username, "case_insensitive"));
    if (!isOnList) {
      turnAway(username === undefined ? String(id) : `${id} (@${username})`);
      return undefined;
    }
    const approver = approvers.find((entry) => isNamed(entry, username));
    const name = [user["first_name"], user["last_name"]].map(wordOf).filter((word) => word !== undefined);
    return {
      sender: approver?.trim() ?? String(id),
      ...(name.length > 0 && { senderName: name.join(" ").slice(0, MAX_SENDER_NAME_CHARS) }),
    };
  };
}

const MAX_SENDER_NAME_CHARS = 200;

const withoutAt = (entry: string): string => entry.trim().replace(/^@/, "");

/** Letters first, so that none can be taken for an id. https://telegram.org/faq#usernames */
function usernameOf(user: Fields): string | undefined {
  const name = wordOf(user["username"]);
  return name !== undefined && /^[A-Za-z]\w*$/.test(name) ? name : undefined;
}

const isNamed = (entry: string, username: string | undefined): boolean =>
  username !== undefined && entry.trim() !== "*" && isAllowed([withoutAt(entry)], username, "case_insensitive");
