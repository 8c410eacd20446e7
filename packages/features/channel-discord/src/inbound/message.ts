/**
 * One message, from the gateway or from the history: who wrote it, whether it is meant for the bot, what it says.
 * https://docs.discord.com/developers/resources/message#message-object
 */
import type { Inbound, InboundMedia } from "@svc/contract";
import { type Fields, fieldsOf, textOf } from "../api/fields.ts";
import { idOf, timeOfId } from "../api/snowflake.ts";
import type { Config } from "../config.ts";
import { CHANNEL } from "../names.ts";
import { attachmentsOf, type Cdn, stickersOf } from "./attachments.ts";
import { isMentioned, type Mentioned, readable } from "./mentions.ts";
import { nameOf, type Self } from "./people.ts";
import type { Rooms } from "./rooms.ts";
import { embedsText, forwardedOf, pollText, quoteOf } from "./shown.ts";

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
  // Somebody who only calls the bot, or answers with nothing but that, wants something of it.
  const isCalled = text === "" && quote === "" && isMentioned(message, mentioned);
  const whole = isCalled ? "(mentions you)" : [text, quote].filter((part) => part !== "").join("\n\n");
  return whole === "" ? undefined : { text: whole, ...(media.length > 0 && { media }) };
}

/** What stands for files comes first: nobody's words are taken for it. */
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
