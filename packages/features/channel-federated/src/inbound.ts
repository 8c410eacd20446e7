/** An event of a room as a message of the service. Pure: it reads any JSON at all. */
import type { Conversation, Inbound, InboundMedia, Json, MediaKind } from "@svc/contract";
import { type Fields, fieldsOf, listOf, textOf, wordOf } from "@svc/kit";
import { CHANNEL } from "./config.ts";
import { mediaRef } from "./media.ts";

/** Handed back with the answer, which replies to the question. */
export interface ReplyData {
  readonly eventId: string;
  readonly isGroup: boolean;
}

export interface EventReading {
  readonly roomId: string;
  readonly userId: string;
  /** Display name of the account in the room. */
  readonly ownName: string | undefined;
  readonly senderName: string | undefined;
  /** More than two people are in the room. */
  readonly isGroup: boolean;
  readonly mentionOnly: boolean;
  /** It replies to a message of ours. */
  readonly isReplyToUs: boolean;
  readonly receivedAtMs: number;
}

/** Undefined for what is no message: state, edits, notices of bots, and in groups what is meant for others. */
export function inboundOf(event: Fields, reading: EventReading): Inbound | undefined {
  const place = placeOf(event, reading);
  if (place === undefined || place.sender === reading.userId) return undefined;
  if (event["type"] === "m.reaction") return reactionOf(event, place, reading);
  const content = fieldsOf(event["content"]);
  if (fieldsOf(content["m.relates_to"])["rel_type"] === "m.replace") return undefined;
  const said = saidIn(event, content);
  if (said === undefined) return undefined;
  const isForUs =
    !reading.isGroup || !reading.mentionOnly || reading.isReplyToUs || isMentioned(content, said.text, reading);
  if (!isForUs) return undefined;
  const text = withoutAddress(said.text, reading);
  const words = [...said.media.map(({ placeholder }) => placeholder), text].filter((part) => part !== "").join("\n");
  if (words === "") return undefined;
  const repliesTo = repliedTo(content);
  return {
    id: place.eventId,
    conversation: place.conversation,
    sender: place.sender,
    ...(reading.senderName !== undefined && { senderName: reading.senderName }),
    ...(reading.isGroup && { group: true }),
    text: words,
    ...(said.media.length > 0 && { media: said.media }),
    ...(repliesTo !== undefined && { repliesTo }),
    sentAtMs: place.sentAtMs,
    replyData: { eventId: place.eventId, isGroup: reading.isGroup } satisfies ReplyData,
  };
}

/** An encrypted event whose key has not come: what is outside of the encryption. */
export function lockedOf(event: Fields, reading: Pick<EventReading, "roomId" | "receivedAtMs">): Inbound | undefined {
  const place = placeOf(event, reading);
  if (place === undefined) return undefined;
  const { eventId: id, ...rest } = place;
  return { kind: "locked", id, ...rest, text: "[encrypted message]" };
}

/** What it replies to, chosen by its sender: in a thread, clients name the last message for those that know no threads. */
export function repliedTo(content: Fields): string | undefined {
  const relation = fieldsOf(content["m.relates_to"]);
  if (relation["rel_type"] === "m.thread" && relation["is_falling_back"] === true) return undefined;
  return eventIdOf(fieldsOf(relation["m.in_reply_to"])["event_id"]);
}

export const eventIdOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" && /^\$[^\s]{1,254}$/.test(value) ? value : undefined;

interface Place {
  readonly eventId: string;
  readonly sender: string;
  readonly conversation: Conversation;
  readonly sentAtMs: number;
}

function placeOf(
  event: Fields,
  { roomId, receivedAtMs }: Pick<EventReading, "roomId" | "receivedAtMs">,
): Place | undefined {
  const eventId = eventIdOf(event["event_id"]);
  const sender = wordOf(event["sender"]);
  if (eventId === undefined || sender === undefined || event["state_key"] !== undefined) return undefined;
  const relation = fieldsOf(fieldsOf(event["content"])["m.relates_to"]);
  const thread = relation["rel_type"] === "m.thread" ? eventIdOf(relation["event_id"]) : undefined;
  const atMs = event["origin_server_ts"];
  const isTime = typeof atMs === "number" && Number.isSafeInteger(atMs) && atMs > 0 && atMs <= 8.64e15;
  return {
    eventId,
    sender,
    conversation: { channel: CHANNEL, id: roomId, ...(thread !== undefined && { thread }) },
    sentAtMs: isTime ? atMs : receivedAtMs,
  };
}

function reactionOf(event: Fields, place: Place, { senderName, isGroup }: EventReading): Inbound | undefined {
  const { rel_type: kind, event_id: target, key } = fieldsOf(fieldsOf(event["content"])["m.relates_to"]);
  const eventId = eventIdOf(target);
  if (kind !== "m.annotation" || eventId === undefined || typeof key !== "string") return undefined;
  return {
    kind: "reaction",
    id: place.eventId,
    conversation: place.conversation,
    sender: place.sender,
    ...(senderName !== undefined && { senderName }),
    ...(isGroup && { group: true }),
    text: key.slice(0, 100).toWellFormed(),
    sentAtMs: place.sentAtMs,
    replyData: { eventId, isGroup } satisfies ReplyData,
  };
}

interface Said {
  readonly text: string;
  readonly media: readonly InboundMedia[];
}

/** https://spec.matrix.org/v1.16/client-server-api/#mroommessage-msgtypes; what programs write is a notice, and unheard. */
function saidIn(event: Fields, content: Fields): Said | undefined {
  const body = (textOf(content["body"]) ?? "").slice(0, MAX_CHARS).toWellFormed();
  if (event["type"] === "m.sticker") return fileIn(content, "sticker", "[sticker]", body);
  if (event["type"] !== "m.room.message") return undefined;
  switch (content["msgtype"]) {
    case "m.text":
      return { text: withoutFallback(content, body), media: [] };
    case "m.emote":
      return { text: body === "" ? "" : `* ${body}`, media: [] };
    case "m.image":
      return fileIn(content, "image", "[image]", captionOf(content, body));
    case "m.video":
      return fileIn(content, "video", "[video]", captionOf(content, body));
    case "m.audio": {
      const isVoice = content["org.matrix.msc3245.voice"] !== undefined || content["m.voice"] !== undefined;
      return fileIn(content, "audio", isVoice ? "[voice message]" : "[audio]", captionOf(content, body));
    }
    case "m.file":
      return fileIn(content, "document", "[document]", captionOf(content, body));
    case "m.location": {
      const uri = wordOf(content["geo_uri"]) ?? "";
      return { text: /^geo:[\d.,;=\w-]{1,100}$/.test(uri) ? `[location: ${uri}]\n${body}`.trim() : body, media: [] };
    }
    default:
      return undefined;
  }
}

/** An event holds 65 536 bytes. */
const MAX_CHARS = 65_536;

/** `body` is the file's name, unless `filename` says that it is a caption. */
function captionOf(content: Fields, body: string): string {
  const name = textOf(content["filename"]);
  return name === undefined || name === body ? "" : body;
}

function fileIn(content: Fields, kind: MediaKind, placeholder: string, text: string): Said | undefined {
  const ref = mediaRef(content);
  if (ref === undefined) return text === "" ? undefined : { text, media: [] };
  const fileName = wordOf(content["filename"]) ?? (kind === "sticker" ? undefined : wordOf(content["body"]));
  const mimeType = typeIn(fieldsOf(content["info"])["mimetype"]);
  const media: InboundMedia = {
    kind,
    ref,
    placeholder,
    ...(mimeType !== undefined && { mimeType }),
    ...(fileName !== undefined && { fileName }),
  };
  return { text, media: [media] };
}

function typeIn(value: Json | undefined): string | undefined {
  const type = wordOf(value)?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(type) ? type : undefined;
}

/** Older clients repeat what they reply to as lines with `> `. https://spec.matrix.org/v1.12/client-server-api/#fallbacks-for-rich-replies */
function withoutFallback(content: Fields, body: string): string {
  if (eventIdOf(fieldsOf(fieldsOf(content["m.relates_to"])["m.in_reply_to"])["event_id"]) === undefined) return body;
  if (!body.startsWith("> <")) return body;
  const lines = body.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("> ") && line !== ">");
  return end === -1 || lines[end] !== "" ? body : lines.slice(end + 1).join("\n");
}

/** https://spec.matrix.org/v1.16/client-server-api/#user-and-room-mentions; older clients only link to the account. */
function isMentioned(content: Fields, text: string, { userId, ownName }: EventReading): boolean {
  const mentions = content["m.mentions"];
  if (mentions !== undefined) return listOf(fieldsOf(mentions)["user_ids"]).includes(userId);
  const html = textOf(content["formatted_body"])?.slice(0, MAX_CHARS) ?? "";
  if (
    html.includes(`https://matrix.to/#/${userId}"`) ||
    html.includes(`https://matrix.to/#/${encodeURIComponent(userId)}"`)
  ) {
    return true;
  }
  return text.includes(userId) || (ownName !== undefined && addressOf(text, ownName) !== undefined);
}

/** How long an address at the beginning of a text is, `Ada: `; undefined: it begins with something else. */
function addressOf(text: string, name: string): number | undefined {
  for (const form of [name, `@${name}`]) {
    if (text.slice(0, form.length).toLowerCase() !== form.toLowerCase()) continue;
    const rest = /^(?:\s*[:,]\s*|\s+|$)/.exec(text.slice(form.length));
    if (rest) return form.length + rest[0].length;
  }
  return undefined;
}

/** Our commands. Clients keep those that begin with a slash to themselves: `!new` is `/new`. */
const COMMAND = /^!(new|model|status|stop|help)(?=\s|$)/;

/** Without the account's name in front, so that a command or an answer to a question reads as one. */
function withoutAddress(text: string, { userId, ownName }: EventReading): string {
  const length = addressOf(text, userId) ?? (ownName === undefined ? undefined : addressOf(text, ownName));
  const rest = length === undefined || length === text.length ? text : text.slice(length);
  return rest.replace(COMMAND, "/$1");
}
