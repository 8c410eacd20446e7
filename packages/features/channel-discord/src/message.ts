/**
 * One message, from the gateway or from the history: who wrote it, whether it is meant for the bot, what it says.
 * https://docs.discord.com/developers/resources/message#message-object
 */
import type { Inbound, InboundMedia, Logger, MediaKind } from "@svc/contract";
import type { Config } from "./config.ts";
import {
  CHANNEL,
  type Fields,
  fieldsOf,
  idOf,
  listOf,
  nameOf,
  numberOf,
  type Self,
  textOf,
  timeOfId,
  wordOf,
} from "./protocol.ts";

export interface MessageReader {
  readonly config: Pick<Config, "mention_only" | "thread_replies">;
  readonly rooms: Pick<Rooms, "ownRole" | "isJoined">;
  readonly cdn: Cdn;
}

/** Undefined: not written by a person, not meant for the bot, or there is nothing in it. */
export function messageOf(reader: MessageReader, self: Self, message: Fields): Inbound | undefined {
  const { author, guild_id: guild, member } = message;
  const [id, channelId] = [idOf(message["id"]), idOf(message["channel_id"])];
  const user = fieldsOf(author);
  const sender = idOf(user["id"]);
  if (id === undefined || channelId === undefined || sender === undefined) return undefined;
  if (!isByPerson(message, user) || sender === self.userId) return undefined;
  const guildId = idOf(guild);
  const mentioned = { userId: self.userId, roleId: guildId === undefined ? undefined : reader.rooms.ownRole(guildId) };
  if (guildId !== undefined && !isForUs(reader, message, channelId, mentioned)) return undefined;
  const said = contentOf(message, mentioned, reader.cdn);
  if (said === undefined) return undefined;
  const name = nameOf(user, fieldsOf(member));
  const repliesTo = idOf(fieldsOf(message["message_reference"])["message_id"]);
  return {
    id,
    conversation: { channel: CHANNEL, id: channelId },
    sender,
    ...(name !== undefined && { senderName: name }),
    ...(guildId !== undefined && { group: true, replyData: { messageId: id } }),
    ...said,
    ...(repliesTo !== undefined && { repliesTo }),
    sentAtMs: timeOf(message["timestamp"]) ?? timeOfId(id),
  };
}

/** 0 and 19 (an answer) are what people write; others are the platform's own, or a bot's. */
function isByPerson({ type, webhook_id: webhook }: Fields, { bot, system }: Fields): boolean {
  const isWritten = type === undefined || type === 0 || type === 19;
  return isWritten && webhook === undefined && bot !== true && system !== true;
}

function isForUs({ config, rooms }: MessageReader, message: Fields, channelId: string, mentioned: Mentioned): boolean {
  if (!config.mention_only || isMentioned(message, mentioned)) return true;
  const answered = fieldsOf(fieldsOf(message["referenced_message"])["author"]);
  return answered["id"] === mentioned.userId || (config.thread_replies && rooms.isJoined(channelId));
}

function contentOf(
  message: Fields,
  mentioned: Mentioned,
  cdn: Cdn,
): { readonly text: string; readonly media?: InboundMedia[] } | undefined {
  const parts = [message, ...forwardedOf(message)].map((part, at) => partOf(part, mentioned, cdn, at > 0));
  const media = parts.flatMap((part) => part.media);
  const text = parts.flatMap((part) => (part.text === "" ? [] : [part.text])).join("\n\n");
  const quote = text.startsWith("/") ? "" : quoteOf(message, mentioned);
  // Someone who only calls the bot, or answers with nothing but that, wants something of it.
  const isCalled = text === "" && quote === "" && isMentioned(message, mentioned);
  const whole = isCalled ? "(mentions you)" : [text, quote].filter((part) => part !== "").join("\n\n");
  return whole === "" ? undefined : { text: whole, ...(media.length > 0 && { media }) };
}

/** What stands for files comes first: no one's words are taken for it. */
function partOf(
  part: Fields,
  mentioned: Mentioned,
  cdn: Cdn,
  isForwarded: boolean,
): { readonly text: string; readonly media: InboundMedia[] } {
  const words = readable(textOf(part["content"]) ?? "", part, mentioned);
  const stickers = stickersOf(part, cdn);
  const media = [...attachmentsOf(part), ...stickers.media];
  const shown = [...media.map(({ placeholder }) => placeholder), ...stickers.named, words, pollText(part)];
  // A link that the platform unfolds has its text twice; an empty message lives of its embeds.
  const text = (shown.every((one) => one === "") ? [embedsText(part)] : shown).filter((one) => one !== "").join("\n");
  return { text: isForwarded && text !== "" ? `Forwarded:\n${text}` : text, media };
}

function timeOf(timestamp: unknown): number | undefined {
  const ms = Date.parse(textOf(timestamp) ?? "");
  return ms >= 0 ? ms : undefined;
}

/**
 * `<@id>` and the like, as people read them.
 * https://docs.discord.com/developers/reference#message-formatting
 */
interface Mentioned {
  readonly userId: string;
  readonly roleId: string | undefined;
}

/** Whether it names the bot or its role. Everyone is not the bot. */
function isMentioned(message: Fields, { userId, roleId }: Mentioned): boolean {
  const users = listOf(message["mentions"]).map((user) => fieldsOf(user)["id"]);
  return users.includes(userId) || (roleId !== undefined && listOf(message["mention_roles"]).includes(roleId));
}

/**
 * Removes a mention of the bot at the beginning or the end, and replaces other mentions and emojis by their names. Text that the
 * platform does not treat as a mention stays unchanged.
 */
export function readable(content: string, message: Fields, { userId, roleId }: Mentioned): string {
  const names = new Map<string, string>();
  for (const user of listOf(message["mentions"]).map(fieldsOf)) {
    const [id, name] = [idOf(user["id"]), nameOf(user, fieldsOf(user["member"]))];
    if (id !== undefined && name !== undefined) names.set(id, name);
  }
  return withoutCalls(content, [`<@${userId}>`, `<@!${userId}>`, ...(roleId === undefined ? [] : [`<@&${roleId}>`])])
    .replaceAll(/<@!?(\d{1,20})>/g, (mention, id: string) => (names.has(id) ? `@${names.get(id)}` : mention))
    .replaceAll(/<a?(:\w{1,64}:)\d{1,20}>/g, "$1")
    .trim();
}

function withoutCalls(content: string, calls: readonly string[]): string {
  let text = content.trim();
  for (let call = calls.find((one) => text.startsWith(one)); call; call = calls.find((one) => text.startsWith(one))) {
    text = text
      .slice(call.length)
      .replace(/^\s*[,:]?/, "")
      .trimStart();
  }
  for (let call = calls.find((one) => text.endsWith(one)); call; call = calls.find((one) => text.endsWith(one))) {
    text = text.slice(0, -call.length).trimEnd();
    if (text.endsWith(",")) text = text.slice(0, -1);
  }
  return text;
}

// Parts of a message beside its text: embeds, polls, forwarded messages, the quoted message.

/** Of messages without words: links that were unfolded have their text in the message itself. */
function embedsText(message: Fields): string {
  return listOf(message["embeds"])
    .slice(0, 10)
    .map((embed) => embedText(fieldsOf(embed)))
    .filter((text) => text !== "")
    .join("\n\n");
}

/** https://docs.discord.com/developers/resources/message#embed-object */
function embedText({ author, title, url, description, fields, footer }: Fields): string {
  const pairs = listOf(fields).map(fieldsOf);
  return [
    fieldsOf(author)["name"],
    title,
    url,
    description,
    ...pairs.map(({ name, value }) => [name, value].flatMap((part) => textOf(part) ?? []).join(": ")),
    fieldsOf(footer)["text"],
  ]
    .flatMap((part) => textOf(part)?.trim() ?? [])
    .join("\n");
}

/** https://docs.discord.com/developers/resources/poll#poll-object */
function pollText(message: Fields): string {
  const { question, answers } = fieldsOf(message["poll"]);
  const asked = textOf(fieldsOf(question)["text"]);
  if (asked === undefined) return "";
  const choices = listOf(answers).flatMap((answer) => textOf(fieldsOf(fieldsOf(answer)["poll_media"])["text"]) ?? []);
  return [`Poll: ${asked}`, ...choices.map((choice) => `- ${choice}`)].join("\n");
}

/** Forwarded messages, which have no author. https://docs.discord.com/developers/resources/message#message-snapshot-object */
const forwardedOf = (message: Fields): Fields[] =>
  listOf(message["message_snapshots"])
    .slice(0, 10)
    .map((snapshot) => fieldsOf(fieldsOf(snapshot)["message"]));

const QUOTED_CHARS = 300;

/**
 * The words that it answers, for anyone who was not there. Behind its own: those may be a command, or the yes that a question
 * waits for. Of a question of ours, which has buttons, nothing is quoted.
 */
function quoteOf(message: Fields, mentioned: Mentioned): string {
  const quoted = fieldsOf(message["referenced_message"]);
  if (listOf(quoted["components"]).length > 0) return "";
  const words = readable(textOf(quoted["content"]) ?? "", quoted, mentioned) || embedsText(quoted);
  if (words === "") return "";
  const short = words.length > QUOTED_CHARS ? `${words.slice(0, QUOTED_CHARS).toWellFormed()}…` : words;
  const by = nameOf(fieldsOf(quoted["author"])) ?? "someone";
  return `(in answer to ${by}: "${short.replaceAll(/\s+/g, " ")}")`;
}

// Files and stickers of a message, with what stands for them in its text.
// https://docs.discord.com/developers/resources/message#attachment-object

/** More than the platform lets anyone attach. */
const MOST = 20;

function attachmentsOf(message: Fields): InboundMedia[] {
  return listOf(message["attachments"])
    .slice(0, MOST)
    .flatMap((attachment) => fileOf(fieldsOf(attachment)) ?? []);
}

function fileOf({ url, filename, content_type: type, waveform }: Fields): InboundMedia | undefined {
  const ref = textOf(url);
  // A link of another length is none that the platform made, and it is kept as long as the message.
  if (ref === undefined || ref.length > 4096) return undefined;
  const mimeType = typeOf(type);
  const kind = textOf(waveform) === undefined ? kindOf(mimeType) : "audio";
  const fileName = wordOf(filename);
  return {
    kind,
    ref,
    placeholder: fileName === undefined ? `[${kind}]` : `[${kind}: ${fileName}]`,
    ...(mimeType !== undefined && { mimeType }),
    ...(fileName !== undefined && { fileName }),
  };
}

/** Without parameters: `text/plain; charset=utf-8`. */
function typeOf(type: unknown): string | undefined {
  const plain = textOf(type)?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(plain) ? plain : undefined;
}

function kindOf(mimeType: string | undefined): MediaKind {
  const [top] = mimeType?.split("/", 1) ?? [];
  return top === "image" || top === "audio" || top === "video" ? top : "document";
}

/** Stickers: `cdn` and, for those that move, another host. A sticker that is a drawing in JSON is only named. */
function stickersOf(message: Fields, cdn: Cdn): { readonly media: InboundMedia[]; readonly named: string[] } {
  const media: InboundMedia[] = [];
  const named: string[] = [];
  for (const sticker of listOf(message["sticker_items"]).slice(0, MOST).map(fieldsOf)) {
    const [id, name] = [idOf(sticker["id"]), wordOf(sticker["name"]) ?? "without a name"];
    const place = id === undefined ? undefined : placeOf(id, numberOf(sticker["format_type"]), cdn);
    const placeholder = `[sticker: ${name}]`;
    if (place === undefined) named.push(placeholder);
    else media.push({ kind: "sticker", ...place, placeholder });
  }
  return { media, named };
}

/** Where the platform's files are. https://docs.discord.com/developers/reference#image-formatting */
export interface Cdn {
  readonly images: string;
  readonly moving: string;
}

/** 1 PNG, 2 APNG, 3 Lottie, 4 GIF: https://docs.discord.com/developers/resources/sticker#sticker-object */
function placeOf(id: string, format: number | undefined, { images, moving }: Cdn) {
  if (format === 1 || format === 2) return { ref: `${images}/stickers/${id}.png`, mimeType: "image/png" };
  if (format === 4) return { ref: `${moving}/stickers/${id}.gif`, mimeType: "image/gif" };
  return undefined;
}

/**
 * What of the servers decides whether a message is meant for the bot: its role there, and the threads that it is in.
 */
export interface Rooms {
  /** Learns from an event about a server, a role or a thread; ignores others. */
  learn(type: string, data: Fields): void;
  setSelf(userId: string): void;
  /** The role that the platform made for the bot there. */
  ownRole(guildId: string): string | undefined;
  /** The bot opened it, or was mentioned there. */
  isJoined(threadId: string): boolean;
}

export function rooms(): Rooms {
  const roles = new Map<string, string>();
  const joined = new Set<string>();
  let self: string | undefined;

  const role = (guildId: string | undefined, { id, tags }: Fields): void => {
    const roleId = idOf(id);
    const isOwn = self !== undefined && fieldsOf(tags)["bot_id"] === self;
    if (guildId !== undefined && roleId !== undefined && isOwn) roles.set(guildId, roleId);
  };
  const thread = ({ id, member, owner_id: owner }: Fields): void => {
    const threadId = idOf(id);
    const isIn = (self !== undefined && owner === self) || typeof member === "object";
    if (threadId !== undefined && isIn) joined.add(threadId);
  };
  const leave = (id: string | undefined): void => {
    if (id !== undefined) joined.delete(id);
  };

  const readers: Readonly<Record<string, (data: Fields) => void>> = {
    GUILD_CREATE(guild) {
      for (const one of listOf(guild["roles"])) role(idOf(guild["id"]), fieldsOf(one));
      for (const one of listOf(guild["threads"])) thread(fieldsOf(one));
    },
    GUILD_ROLE_CREATE: (data) => role(idOf(data["guild_id"]), fieldsOf(data["role"])),
    GUILD_ROLE_UPDATE: (data) => role(idOf(data["guild_id"]), fieldsOf(data["role"])),
    THREAD_CREATE: thread,
    THREAD_UPDATE: thread,
    THREAD_DELETE: ({ id }) => leave(idOf(id)),
    THREAD_LIST_SYNC({ threads, members }) {
      for (const one of listOf(threads)) thread(fieldsOf(one));
      for (const one of listOf(members)) thread({ id: fieldsOf(one)["id"] ?? null, member: {} });
    },
    THREAD_MEMBERS_UPDATE({ id, added_members: added, removed_member_ids: removed }) {
      if (listOf(added).some((one) => fieldsOf(one)["user_id"] === self)) thread({ id: id ?? null, member: {} });
      if (self !== undefined && listOf(removed).includes(self)) leave(idOf(id));
    },
  };

  return {
    learn(type, data) {
      if (Object.hasOwn(readers, type)) readers[type]?.(data);
    },
    setSelf: (userId) => void (self = userId),
    ownRole: (guildId) => roles.get(guildId),
    isJoined: (threadId) => joined.has(threadId),
  };
}

/** Whether the bot listens on a server. Told once for each, as it may be a mistake in the config. */
export function guildGate(allowed: readonly string[] | undefined, log: Logger): (guildId: string) => boolean {
  const logged = new Set<string>();
  return (guildId) => {
    if (allowed === undefined || allowed.includes(guildId)) return true;
    if (!logged.has(guildId) && logged.size < MAX_TOLD) {
      logged.add(guildId);
      log.info("a server is not in allowed_guilds; its messages are ignored", { guild: guildId });
    }
    return false;
  };
}

const MAX_TOLD = 100;
