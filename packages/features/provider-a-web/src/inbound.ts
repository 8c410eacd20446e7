/** Turns a decrypted message into an inbound message: sender, conversation and content. Drops messages that are not for the agent. */
import type { Inbound, InboundMedia, MediaKind } from "@svc/contract";
import type { proto as Proto } from "baileys";
import type { Library, WebSection } from "./connection.ts";
import { mediaRef } from "./media.ts";
import type { StoredMessage } from "./session-store.ts";

export interface Reader {
  readonly library: Library;
  readonly section: Pick<WebSection, "mode" | "group_policy" | "mention_only">;
  /** The linked account, as `number@s.whatsapp.net` and `id@lid`. */
  readonly self: { readonly phone: string; readonly lid: string | undefined };
  /** The phone number of a `@lid` id, where it is known. */
  phoneOfLid(lid: string): string | undefined;
  /** Whether this number may write; tells the log of those that may not. */
  isAllowed(phone: string): boolean;
}

/** Undefined for a message that is not for the agent. Throws for an invalid message. */
export function readMessage(reader: Reader, { attrs, plaintext }: StoredMessage): Inbound | undefined {
  const { library, section, self } = reader;
  const { proto } = library;
  const decoded = proto.Message.decode(library.unpadRandomMax16(plaintext));
  const from = attrs["from"] ?? "";
  const id = attrs["id"] ?? "";
  const isGroup = from.endsWith("@g.us");
  if (id === "" || (!isGroup && !from.endsWith("@s.whatsapp.net") && !from.endsWith("@lid"))) return undefined;
  const author = isGroup ? (attrs["participant"] ?? "") : from;
  const authorPhone = phoneOf(reader, author, isGroup ? attrs["participant_pn"] : attrs["sender_pn"]);
  const ownPhone = numberIn(self.phone);
  const isOwn = authorPhone === ownPhone || userOf(author) === userOf(self.lid ?? "");
  if (isOwn && !isNoteToSelf(reader, attrs, decoded)) return undefined;
  // Whose number the platform hides can't be on a list of numbers.
  if (authorPhone === undefined) {
    reader.isAllowed(author);
    return undefined;
  }
  if (isGroup && section.group_policy === "ignore") return undefined;
  const message = library.normalizeMessageContent(decoded.deviceSentMessage?.message ?? decoded);
  const content = message && contentOf(message);
  if (!content) return undefined;
  if (isGroup && section.mention_only && content.kind !== "reaction" && !isForUs(content.context, self))
    return undefined;
  if (!reader.isAllowed(authorPhone)) return undefined;
  const { kind, text, media, context, about } = content;
  const conversationId = isGroup ? from : authorPhone;
  const repliesTo = about ?? context?.stanzaId ?? undefined;
  const seconds = Number(attrs["t"]);
  return {
    ...(kind && { kind }),
    // The sender chooses the id: it must not collide with another sender's message.
    id: [conversationId, ...(isGroup ? [authorPhone] : []), id].join(" "),
    conversation: { channel: "provider_a", id: conversationId },
    sender: authorPhone,
    ...(attrs["notify"] !== undefined &&
      attrs["notify"].trim() !== "" && { senderName: attrs["notify"].slice(0, 200) }),
    ...(isGroup && { group: true }),
    text,
    ...(media && { media: [media] }),
    ...(repliesTo !== undefined && repliesTo !== "" && { repliesTo }),
    ...(context?.isForwarded === true && { secondHand: true }),
    ...(Number.isSafeInteger(seconds) && seconds > 0 && { sentAtMs: seconds * 1000 }),
    replyData: { id, ...(isGroup && { participant: author }) },
  };
}

/** In personal mode the account's owner talks to the agent in the chat with themselves, if their number is on the list. */
function isNoteToSelf({ section, self }: Reader, attrs: StoredMessage["attrs"], message: Proto.Message): boolean {
  if (section.mode !== "personal" || attrs["from"]?.endsWith("@g.us") === true) return false;
  const to = message.deviceSentMessage?.destinationJid ?? attrs["recipient"] ?? "";
  return userOf(to) === userOf(self.phone) || userOf(to) === userOf(self.lid ?? "-");
}

/** A number that the platform names beside an id, or that it named earlier. */
function phoneOf(reader: Reader, jid: string, beside: string | undefined): string | undefined {
  if (jid.endsWith("@s.whatsapp.net")) return numberIn(jid);
  if (!jid.endsWith("@lid")) return undefined;
  if (beside?.endsWith("@s.whatsapp.net") === true) return numberIn(beside);
  return reader.phoneOfLid(userOf(jid));
}

/** Without the device. */
export const userOf = (jid: string): string => jid.split("@", 1)[0]!.split(":", 1)[0]!;

/** `+` and digits; undefined for what has no number. */
export function numberIn(jid: string): string | undefined {
  const user = userOf(jid);
  return /^[0-9]{5,20}$/.test(user) ? `+${user}` : undefined;
}

/** It names us, or replies to us. */
function isForUs(context: Proto.IContextInfo | undefined, self: Reader["self"]): boolean {
  const own = new Set([self.phone, self.lid].filter((jid) => jid !== undefined).map(userOf));
  const named = [...(context?.mentionedJid ?? []), ...(context?.participant ? [context.participant] : [])];
  return named.some((jid) => own.has(userOf(jid)));
}

interface Content {
  readonly kind?: "reaction";
  readonly text: string;
  readonly media?: InboundMedia;
  readonly context?: Proto.IContextInfo | undefined;
  /** The message that a reaction is about. */
  readonly about?: string;
}

function contentOf(message: Proto.IMessage): Content | undefined {
  const { conversation, extendedTextMessage: text, reactionMessage: reaction, locationMessage: place } = message;
  if (reaction)
    return { kind: "reaction", text: reaction.text ?? "", ...(reaction.key?.id && { about: reaction.key.id }) };
  if (text) return saying(text.text, text.contextInfo);
  if (conversation) return saying(conversation, undefined);
  if (place) return saying(placeOf(place), place.contextInfo);
  const {
    imageMessage: image,
    audioMessage: audio,
    videoMessage: video,
    documentMessage: document,
    stickerMessage: sticker,
  } = message;
  if (image) return fileOf("image", image, image.caption);
  if (audio) return fileOf("audio", audio);
  if (video) return fileOf("video", video, video.caption);
  if (document) return fileOf("document", document, document.caption, document.fileName);
  if (sticker) return fileOf("sticker", sticker);
  const choice = message.buttonsResponseMessage?.selectedDisplayText ?? message.listResponseMessage?.title;
  return saying(choice, message.buttonsResponseMessage?.contextInfo ?? message.listResponseMessage?.contextInfo);
}

const saying = (text: string | null | undefined, context: Proto.IContextInfo | null | undefined): Content | undefined =>
  text === undefined || text === null || text.trim() === "" ? undefined : { text, context: context ?? undefined };

interface MediaMessage {
  readonly directPath?: string | null | undefined;
  readonly mediaKey?: Uint8Array | null | undefined;
  readonly fileEncSha256?: Uint8Array | null | undefined;
  readonly mimetype?: string | null | undefined;
  readonly contextInfo?: Proto.IContextInfo | null | undefined;
}

function fileOf(
  kind: MediaKind,
  message: MediaMessage,
  caption?: string | null,
  name?: string | null,
): Content | undefined {
  const ref = mediaRef(kind, message);
  const placeholder = `[${kind}]`;
  const said = caption?.trim() ? `\n${caption}` : "";
  const context = message.contextInfo ?? undefined;
  if (ref === undefined) return saying(said === "" ? undefined : caption, context);
  const mimeType = typeIn(message.mimetype);
  const media: InboundMedia = {
    kind,
    ref,
    placeholder,
    ...(mimeType !== undefined && { mimeType }),
    ...(name?.trim() && { fileName: name }),
  };
  return { text: `${placeholder}${said}`, media, context };
}

/** Without parameters: `audio/ogg; codecs=opus`. */
function typeIn(mimeType: string | null | undefined): string | undefined {
  const type = mimeType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(type) ? type : undefined;
}

function placeOf(place: Proto.Message.ILocationMessage): string | undefined {
  const { degreesLatitude: latitude, degreesLongitude: longitude, name, address, url } = place;
  if (typeof latitude !== "number" || typeof longitude !== "number") return undefined;
  const words = [name, address, url].filter((word) => word !== undefined && word !== null && word.trim() !== "");
  return [`Location: ${latitude}, ${longitude}`, ...words].join("\n");
}
