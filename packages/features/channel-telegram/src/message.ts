/** Reads a message of the platform: who wrote it, where, to whom, and its text, files and cards. https://core.telegram.org/bots/api#message */
import type { Conversation, Inbound, InboundMedia, Json, Logger, MediaKind } from "@svc/contract";
import { isAllowed, senderGate, type Fields, fieldsOf, listOf, textOf, wordOf } from "@svc/kit";
import { CHANNEL, COMMANDS, idOf, numberOf, someFields } from "./bot-api.ts";

/** What `send` is handed back with the answer: in a group it replies to the question. */
export interface ReplyData {
  readonly messageId: number;
}

export interface ReadMessage {
  readonly inbound: Inbound;
  /** The sender's own text, without the quoted message. */
  readonly said: string;
  /** Whether it is meant for the bot. In an album, one picture's text is enough. */
  readonly isForUs: boolean;
  /** The messages of one album share it. */
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

/** The platform's time is in seconds. A value that no date can hold is ignored. */
function timeOf({ date }: Fields, receivedAtMs: number): number {
  const secs = numberOf(date) ?? 0;
  return secs > 0 && secs <= 8.64e12 ? Math.floor(secs) * 1000 : receivedAtMs;
}

/**
 * Part of a message's id. The platform numbers the messages of each chat, and those of a private chat separately for each
 * bot, so an id needs bot, chat and message.
 */
export interface MessageRef {
  readonly chatId: number;
  readonly messageId: number;
}

const inboundId = (botId: number, { chatId, messageId }: MessageRef): string => `${botId}:${chatId}:${messageId}`;

/** Undefined for another kind of id, such as a press. */
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

/** Undefined for a text that is not a command. */
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
  // In a topic, a message that replies to nothing arrives as a reply to the topic's first message.
  const isTopic = message["is_topic_message"] === true && replied?.["message_id"] === message["message_thread_id"];
  return isTopic || replied?.["forum_topic_created"] !== undefined ? undefined : replied;
}

/** Id of the message that it replies to, as in a receipt; `elsewhere` for one in another chat, or a story. */
function repliedToId(message: Fields): string | undefined {
  const id = idOf(repliedTo(message)?.["message_id"]);
  if (id !== undefined) return String(id);
  return someFields(message["external_reply"] ?? message["reply_to_story"]) && "elsewhere";
}

const isOurs = (message: Fields | undefined, { id }: Me): boolean =>
  id !== undefined && fieldsOf(message?.["from"])["id"] === id;

/**
 * `[In reply to Ada: "…"]`; blank without a reply. A reply to a question with buttons gets none: the question's own words
 * would be read as a part of the answer.
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

/** On one line, so that no part of a quote can pass for something else. */
function onOneLine(text: string, maxChars: number): string {
  const line = text.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars).toWellFormed().trimEnd()}…`;
}

/**
 * A person who may write: by id, which is permanent, or by @username, which its owner may give away. In groups the person
 * counts, not the group.
 */
export interface Sender {
  /** Their id. For an approver by @username that entry, because the core compares exactly. */
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
  // Only called for refused senders: it logs each of them once.
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

// What a message holds: marked text, files, cards. https://core.telegram.org/bots/api#message

/** The bot itself. */
interface Me {
  readonly id: number | undefined;
  readonly username: string | undefined;
}

/** A part of a text that the platform marks. https://core.telegram.org/bots/api#messageentity */
interface Mark {
  readonly type: string;
  /** Both in UTF-16 units, as strings here are counted too. */
  readonly start: number;
  readonly end: number;
  readonly fields: Fields;
}

function isMentioned(text: string, entities: Json | undefined, me: Me): boolean {
  return marksIn(text, entities).some((mark) => isMention(text, mark, me));
}

/**
 * The text for the model: hidden links and blocks of code are written out. The bot's own name is removed at both ends; within
 * a sentence it stays.
 */
function readableText(text: string, entities: Json | undefined, me: Me): string {
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  const parts: string[] = [];
  let at = 0;
  let isCalled = false;
  for (const mark of marksIn(text, entities).toSorted((a, b) => a.start - b.start)) {
    // Nested or overlapping: the first one is already written out.
    if (mark.start < at) continue;
    const isAtEnd = mark.start <= start || mark.end >= end;
    const isCall = isAtEnd && isMention(text, mark, me);
    const instead = isCall ? "" : writtenOut(text, mark);
    if (instead === undefined) continue;
    isCalled ||= isCall;
    parts.push(text.slice(at, mark.start), instead);
    at = mark.end;
  }
  const readable = [...parts, text.slice(at)].join("");
  if (!isCalled) return readable;
  const said = readable.replace(/^\s*[,:;]?\s*/, "").trimEnd();
  // Nothing but the name: keep it.
  return said === "" ? text : said;
}

function marksIn(text: string, entities: Json | undefined): Mark[] {
  return listOf(entities).flatMap((entity) => {
    const fields = fieldsOf(entity);
    const [start, length] = [numberOf(fields["offset"]), numberOf(fields["length"])];
    if (start === undefined || length === undefined) return [];
    const isInside = Number.isInteger(start) && Number.isInteger(length) && start >= 0 && length > 0;
    if (!isInside || start + length > text.length) return [];
    return [{ type: String(textOf(fields["type"])), start, end: start + length, fields }];
  });
}

function isMention(text: string, { type, start, end, fields }: Mark, { id, username }: Me): boolean {
  if (type === "text_mention") return id !== undefined && fieldsOf(fields["user"])["id"] === id;
  if (type !== "mention" || username === undefined) return false;
  return text.slice(start, end).toLowerCase() === `@${username.toLowerCase()}`;
}

/** Undefined: as it is. */
function writtenOut(text: string, { type, start, end, fields }: Mark): string | undefined {
  const part = text.slice(start, end);
  if (type === "text_link") {
    const url = textOf(fields["url"]);
    return url === undefined ? undefined : `[${part}](${url})`;
  }
  if (type !== "pre") return undefined;
  const language = /^[\w+#.-]{1,32}$/.exec(textOf(fields["language"]) ?? "")?.[0] ?? "";
  return `\`\`\`${language}\n${part.replace(/\n$/, "")}\n\`\`\``;
}

/** Files that come with a message. https://core.telegram.org/bots/api#message */
interface MessageFile {
  readonly media: InboundMedia;
  /** Its placeholder; for a sticker followed by its emoji. */
  readonly words: string;
}

/** The platform sends one file a message; an album is several messages. */
function mediaOf(message: Fields): MessageFile | undefined {
  for (const [field, kind, label, mimeType] of KINDS) {
    const file = field === "photo" ? largest(message["photo"]) : someFields(message[field]);
    const media = file && fileOf(file, kind, `[${label}]`, mimeType);
    if (media) return { media, words: [media.placeholder, ...emojiOf(kind, file)].join(" ") };
  }
  return undefined;
}

/** In this order: an animation has a `document` too. A live photo gives its still picture. */
const KINDS: readonly (readonly [field: string, kind: MediaKind, label: string, mimeType?: string])[] = [
  ["photo", "image", "image", "image/jpeg"],
  ["voice", "audio", "voice message", "audio/ogg"],
  ["audio", "audio", "audio"],
  ["video_note", "video", "video message", "video/mp4"],
  ["video", "video", "video", "video/mp4"],
  ["animation", "video", "animation", "video/mp4"],
  ["sticker", "sticker", "sticker"],
  ["document", "document", "document"],
];

function fileOf(
  file: Fields,
  kind: MediaKind,
  placeholder: string,
  standardType: string | undefined,
): InboundMedia | undefined {
  const ref = wordOf(file["file_id"]);
  if (ref === undefined) return undefined;
  const mimeType = typeOf(file["mime_type"]) ?? (kind === "sticker" ? stickerType(file) : standardType);
  const fileName = wordOf(file["file_name"]);
  return {
    kind,
    ref,
    placeholder,
    ...(mimeType !== undefined && { mimeType }),
    ...(fileName !== undefined && { fileName }),
  };
}

function largest(sizes: Json | undefined): Fields | undefined {
  const areaOf = ({ width, height }: Fields): number => (numberOf(width) ?? 0) * (numberOf(height) ?? 0);
  const all = listOf(sizes).map(fieldsOf);
  return all.toSorted((a, b) => areaOf(b) - areaOf(a))[0];
}

/** The emoji that a sticker stands for. */
function emojiOf(kind: MediaKind, { emoji }: Fields): string[] {
  const shown = kind === "sticker" ? textOf(emoji) : undefined;
  return shown === undefined ? [] : [shown.slice(0, MAX_EMOJI_UNITS).toWellFormed()];
}

/** Families have some thirty. */
const MAX_EMOJI_UNITS = 40;

function stickerType({ is_animated: isAnimated, is_video: isVideo }: Fields): string {
  if (isAnimated === true) return "application/x-tgsticker";
  return isVideo === true ? "video/webm" : "image/webp";
}

function typeOf(mimeType: Json | undefined): string | undefined {
  const type = wordOf(mimeType)?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(type) ? type : undefined;
}

/** Undefined for messages about the chat itself (joined, left, pinned), which say nothing to an agent. */
function cardText(message: Fields): string | undefined {
  const card = CARDS.find(([field]) => someFields(message[field]) !== undefined);
  return card?.[1](fieldsOf(message[card[0]]));
}

/** A venue has a `location` beside it, too. */
const CARDS: readonly (readonly [field: string, read: (card: Fields) => string | undefined])[] = [
  ["venue", ({ location, title, address }) => placeText(fieldsOf(location), [title, address])],
  ["location", (location) => placeText(location, [])],
  ["contact", contactText],
  ["poll", pollText],
  ["dice", ({ emoji, value }) => `[${textOf(emoji) ?? "dice"}: ${numberOf(value) ?? "?"}]`],
  ["rich_message", richText],
  ["checklist", ({ title, tasks }) => listText("Checklist", textOf(title), tasks)],
  // Bots don't get the content of these, only the fact.
  ["story", () => "[story]"],
  ["paid_media", () => "[paid media]"],
  ["game", ({ title }) => `[game: ${textOf(title) ?? ""}]`],
  ["invoice", ({ title }) => `[invoice: ${textOf(title) ?? ""}]`],
];

function placeText({ latitude, longitude }: Fields, words: readonly (Json | undefined)[]): string | undefined {
  const [lat, long] = [numberOf(latitude), numberOf(longitude)];
  if (lat === undefined || long === undefined) return undefined;
  return [`Location: ${lat}, ${long}`, ...words.map(textOf).filter((word) => word !== undefined)].join("\n");
}

function contactText({ first_name: first, last_name: last, phone_number: phone }: Fields): string | undefined {
  const name = [first, last].map(textOf).filter((word) => word !== undefined);
  const words = [name.join(" "), textOf(phone)].filter((word) => word);
  return words.length === 0 ? undefined : `Contact: ${words.join(", ")}`;
}

function pollText({ question, options }: Fields): string | undefined {
  return listText("Poll", textOf(question), options);
}

function listText(what: string, title: string | undefined, items: Json | undefined): string | undefined {
  if (title === undefined) return undefined;
  const lines = listOf(items).flatMap((item) => textOf(fieldsOf(item)["text"]) ?? []);
  return [`${what}: ${title}`, ...lines.map((line) => `- ${line}`)].join("\n");
}

/**
 * The text of a message with headings, tables and other blocks, unknown kinds included. https://core.telegram.org/bots/api#richmessage
 */
function richText(message: Json | undefined): string | undefined {
  return linesOf(fieldsOf(message)["blocks"]).join("\n") || undefined;
}

/** The platform nests sixteen levels. */
const MAX_DEPTH = 20;

function linesOf(blocks: Json | undefined, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  return listOf(blocks).flatMap((block) => {
    const { summary, text, expression, blocks: inner, items, cells, caption } = fieldsOf(block);
    const rows = listOf(cells).map((row) =>
      listOf(row)
        .map((cell) => lineOf(fieldsOf(cell)["text"]))
        .join(" | "),
    );
    return [
      lineOf(summary),
      lineOf(text),
      textOf(expression) ?? "",
      ...linesOf(inner, depth + 1),
      ...linesOf(items, depth + 1),
      ...rows,
      lineOf(caption),
    ].filter((line) => line.trim() !== "");
  });
}

/** One line: a text, or texts and formatted texts one after the other. */
function lineOf(text: Json | undefined, depth = 0): string {
  if (depth > MAX_DEPTH) return "";
  if (typeof text === "string") return text;
  if (Array.isArray(text)) return (text as Json[]).map((part) => lineOf(part, depth + 1)).join("");
  const { text: inner, alternative_text: emoji, expression } = fieldsOf(text);
  return inner === undefined ? (textOf(emoji) ?? textOf(expression) ?? "") : lineOf(inner, depth + 1);
}
