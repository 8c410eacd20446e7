/** Reads a delivery, in both versions of the platform's webhooks: 2025-01-01 and 2026-02-03. */
import type { Inbound, InboundMedia, Json, Logger } from "@svc/contract";
import { mediaKindOf, senderGate } from "@svc/kit";
import * as v from "valibot";

/** The message of a `message.received`; undefined for other events, and for messages of ours. */
export function inboundOf(payload: Json): Inbound | undefined {
  const { success, output } = v.safeParse(RECEIVED, payload);
  if (!success) return undefined;
  const { data, event_id: eventId, created_at: createdAt } = output;
  if (data.is_from_me === true || data.sender_handle?.is_me === true || data.direction === "outbound") return undefined;

  const message = data.message ?? data;
  const handle = data.from ?? data.from_handle?.handle ?? data.sender_handle?.handle;
  const parts = partsOf(message.parts ?? []);
  if (handle === undefined || parts.length === 0) return undefined;

  const sender = normalisedHandle(handle);
  const group = data.chat?.is_group ?? data.is_group;
  const chat = data.chat_id ?? data.chat?.id ?? newChatWith(sender, group);
  if (chat === undefined) return undefined;
  // Field by field: to spread objects that are there or not takes longer than all else here.
  const inbound: { -readonly [Name in keyof Inbound]: Inbound[Name] } = {
    conversation: { channel: "provider_b", id: chat },
    sender,
    text: parts.map(({ text }) => text).join("\n"),
  };
  const id = message.id ?? eventId;
  if (id !== undefined) inbound.id = id;
  const media = parts.flatMap((part) => part.media ?? []);
  if (media.length > 0) inbound.media = media;
  if (parts.some(({ isFromApp }) => isFromApp)) inbound.secondHand = true;
  const sentAtMs = firstTime([message.sent_at, data.received_at, data.created_at, createdAt]);
  if (sentAtMs !== undefined) inbound.sentAtMs = sentAtMs;
  if (group === true) inbound.group = true;
  // If the chat is gone, the answer starts a new one with the sender. A group gets none: its other members would miss the answer.
  else inbound.replyData = { to: sender };
  return inbound;
}

function firstTime(times: readonly (string | undefined)[]): number | undefined {
  for (const time of times) {
    const atMs = time === undefined ? NaN : Date.parse(time);
    if (!Number.isNaN(atMs)) return atMs;
  }
  return undefined;
}

/**
 * The conversation of a message without a chat: its sender's number, for which the platform opens a chat. Undefined for a group,
 * and for a sender without a number (an SMS sender's name).
 */
const newChatWith = (sender: string, group: boolean | undefined): string | undefined =>
  group !== true && isHandle(sender) ? sender : undefined;

/** The platform's own limit. */
const MAX_PARTS = 100;

interface Part {
  readonly text: string;
  /** Written by an iMessage app, not by the sender. */
  readonly isFromApp?: true;
  readonly media?: InboundMedia;
}

function partsOf(parts: readonly v.InferOutput<typeof PART>[]): Part[] {
  const read: Part[] = [];
  for (const part of parts.slice(0, MAX_PARTS)) {
    const one = part && partOf(part);
    if (one !== undefined) read.push(one);
  }
  return read;
}

function partOf(part: NonNullable<v.InferOutput<typeof PART>>): Part | undefined {
  if (part.type === "media") return mediaPart(part);
  const isFromApp = part.type === "imessage_app";
  const text = isFromApp ? (part.fallback_text ?? part.layout?.caption ?? "") : part.value;
  if (text.trim() === "") return undefined;
  return isFromApp ? { text, isFromApp } : { text };
}

function mediaPart({ url, mime_type: mimeType, filename }: v.InferOutput<typeof MEDIA_PART>): Part {
  const kind = mediaKindOf(mimeType);
  const placeholder = `[${kind.toUpperCase()}:${url}]`;
  const about = { ...(mimeType !== undefined && { mimeType }), ...(filename !== undefined && { fileName: filename }) };
  return { text: placeholder, media: { kind, ref: url, placeholder, ...about } };
}

/** An invalid value counts as missing: one odd field must not lose a message. */
const lenient = <Schema extends v.GenericSchema>(schema: Schema) => v.fallback(v.optional(schema), undefined);

/** An id, number, address, time or file name. The limit is longer than any of them. */
const WORD = v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(512));
const FLAG = lenient(v.boolean());

const MEDIA_PART = v.object({
  type: v.literal("media"),
  url: v.pipe(v.string(), v.url(), v.maxLength(8192)),
  mime_type: lenient(WORD),
  filename: lenient(WORD),
});

const PART = lenient(
  v.variant("type", [
    v.object({ type: v.literal("text"), value: v.string() }),
    v.object({ type: v.literal("link"), value: v.string() }),
    MEDIA_PART,
    v.object({
      type: v.literal("imessage_app"),
      fallback_text: lenient(v.string()),
      layout: lenient(v.object({ caption: lenient(v.string()) })),
    }),
  ]),
);

const MESSAGE = { id: lenient(WORD), parts: lenient(v.array(PART)), sent_at: lenient(WORD) };
const HANDLE = lenient(v.object({ handle: lenient(WORD), is_me: FLAG }));

const RECEIVED = v.object({
  event_type: v.literal("message.received"),
  event_id: lenient(WORD),
  created_at: lenient(WORD),
  data: v.object({
    // 2026-02-03
    ...MESSAGE,
    chat: lenient(v.object({ id: lenient(WORD), is_group: FLAG })),
    sender_handle: HANDLE,
    direction: lenient(WORD),
    // 2025-01-01
    chat_id: lenient(WORD),
    from: lenient(WORD),
    from_handle: HANDLE,
    is_from_me: FLAG,
    is_group: FLAG,
    received_at: lenient(WORD),
    created_at: lenient(WORD),
    message: lenient(v.object(MESSAGE)),
  }),
});

// A handle is what the platform calls a person's address: a phone number, or the mail address of an account.

/** A number as `+` and digits, an address in lower case; other handles (an SMS sender's name) unchanged. */
export function normalisedHandle(handle: string): string {
  if (handle.includes("@")) return handle.toLowerCase();
  return PHONE.test(handle) ? `+${handle.replaceAll(/[^0-9]/g, "")}` : handle;
}

/** Whether the platform accepts it in `to`. */
export const isHandle = (text: string): boolean => /^\+[0-9]{3,15}$|^[^\s@/]+@[^\s@/]+$/.test(text);

/** Compares numbers by their digits and addresses in lower case; logs each refused sender once. */
export function senderFilter(allowed: readonly string[], log: Logger): (sender: string) => boolean {
  const options = { allowed, log, channel: "provider_b" };
  const phones = senderGate({ ...options, mode: "phone" });
  const addresses = senderGate({ ...options, mode: "case_insensitive" });
  return (sender) => (sender.includes("@") ? addresses(sender) : phones(sender));
}

const PHONE = /^\+?[0-9][0-9 .()-]*$/;
