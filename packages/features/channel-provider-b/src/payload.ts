/** What the platform tells of a message, in both shapes it has (versions 2025-01-01 and 2026-02-03 of its webhooks). */
import type { Inbound, InboundMedia, Json, Logger } from "@svc/contract";
import { mediaKindOf, senderGate } from "@svc/kit";
import * as v from "valibot";

/** The received message of a `message.received`; undefined if it has no message of another person. */
export function inboundOf(payload: Json): Inbound | undefined {
  const { success, output } = v.safeParse(RECEIVED, payload);
  if (!success) return undefined;
  const { data, event_id: eventId, created_at: createdAt } = output;
  if (data.is_from_me === true || data.sender_handle?.is_me === true || data.direction === "outbound") return undefined;

  const message = data.message ?? data;
  const handle = data.from ?? data.from_handle?.handle ?? data.sender_handle?.handle;
  const parts = (message.parts ?? []).slice(0, MAX_PARTS).flatMap(partOf);
  if (handle === undefined || parts.length === 0) return undefined;

  const sender = normalised(handle);
  const group = data.chat?.is_group ?? data.is_group;
  const chat = data.chat_id ?? data.chat?.id ?? chatWith(sender, group);
  if (chat === undefined) return undefined;
  const id = message.id ?? eventId;
  const media = parts.flatMap((part) => part.media ?? []);
  const sentAtMs = [message.sent_at, data.received_at, data.created_at, createdAt]
    .map((time) => Date.parse(time ?? ""))
    .find((time) => !Number.isNaN(time));
  return {
    ...(id !== undefined && { id }),
    conversation: { channel: "provider_b", id: chat },
    sender,
    ...(group === true && { group }),
    text: parts.map(({ text }) => text).join("\n"),
    ...(media.length > 0 && { media }),
    ...(parts.some(({ isApps }) => isApps) && { secondHand: true }),
    ...(sentAtMs !== undefined && { sentAtMs }),
    // A chat that is gone is begun anew with who wrote; of a group's answer that person alone is no reader.
    ...(group !== true && { replyData: { to: sender } }),
  };
}

/**
 * A message without a chat is answered to its sender's number, and the platform makes the chat. Undefined where the answer
 * would go to the wrong reader (a group) or to no number (an SMS sender's name).
 */
const chatWith = (sender: string, group: boolean | undefined): string | undefined =>
  group !== true && isHandle(sender) ? sender : undefined;

/** The platform's own limit; a delivery with more parts is forged. */
const MAX_PARTS = 100;

interface Part {
  readonly text: string;
  /** An app on the telephone wrote it. */
  readonly isApps?: true;
  readonly media?: InboundMedia;
}

function partOf(part: v.InferOutput<typeof PART>): Part[] {
  if (part === undefined) return [];
  if (part.type === "media") return [mediaPart(part)];
  const isApps = part.type === "imessage_app";
  const text = isApps ? (part.fallback_text ?? part.layout?.caption ?? "") : part.value;
  return text.trim() === "" ? [] : [{ text, ...(isApps && { isApps }) }];
}

function mediaPart({ url, mime_type: mimeType, filename }: v.InferOutput<typeof MEDIA_PART>): Part {
  const kind = mediaKindOf(mimeType);
  const placeholder = `[${kind.toUpperCase()}:${url}]`;
  const told = { ...(mimeType !== undefined && { mimeType }), ...(filename !== undefined && { fileName: filename }) };
  return { text: placeholder, media: { kind, ref: url, placeholder, ...told } };
}

/** An undocumented value counts as missing: one odd field must not lose a message. */
const maybe = <Schema extends v.GenericSchema>(schema: Schema) => v.fallback(v.optional(schema), undefined);

/** Longer than any id, number, address or name of a file there, and short enough to be kept. */
const WORD = v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(512));
const FLAG = maybe(v.boolean());

const MEDIA_PART = v.object({
  type: v.literal("media"),
  url: v.pipe(v.string(), v.url(), v.maxLength(8192)),
  mime_type: maybe(WORD),
  filename: maybe(WORD),
});

const PART = maybe(
  v.variant("type", [
    v.object({ type: v.literal("text"), value: v.string() }),
    v.object({ type: v.literal("link"), value: v.string() }),
    MEDIA_PART,
    v.object({
      type: v.literal("imessage_app"),
      fallback_text: maybe(v.string()),
      layout: maybe(v.object({ caption: maybe(v.string()) })),
    }),
  ]),
);

const MESSAGE = { id: maybe(WORD), parts: maybe(v.array(PART)), sent_at: maybe(WORD) };
const HANDLE = maybe(v.object({ handle: maybe(WORD), is_me: FLAG }));

const RECEIVED = v.object({
  event_type: v.literal("message.received"),
  event_id: maybe(WORD),
  created_at: maybe(WORD),
  data: v.object({
    // 2026-02-03
    ...MESSAGE,
    chat: maybe(v.object({ id: maybe(WORD), is_group: FLAG })),
    sender_handle: HANDLE,
    direction: maybe(WORD),
    // 2025-01-01
    chat_id: maybe(WORD),
    from: maybe(WORD),
    from_handle: HANDLE,
    is_from_me: FLAG,
    is_group: FLAG,
    received_at: maybe(WORD),
    created_at: maybe(WORD),
    message: maybe(v.object(MESSAGE)),
  }),
});

// The handle of a person: a phone number, or the mail address of an account.

/** As `+` and digits, or an address in lower case; other handles (an SMS sender's name) stay unchanged. */
export function normalised(handle: string): string {
  if (handle.includes("@")) return handle.toLowerCase();
  return PHONE.test(handle) ? `+${handle.replaceAll(/[^0-9]/g, "")}` : handle;
}

/** What the platform takes in `to`. */
export const isHandle = (text: string): boolean => /^\+[0-9]{3,15}$|^[^\s@/]+@[^\s@/]+$/.test(text);

export function handleGate(allowed: readonly string[], log: Logger): (sender: string) => boolean {
  const options = { allowed, log, channel: "provider_b" };
  const phones = senderGate({ ...options, mode: "phone" });
  const addresses = senderGate({ ...options, mode: "case_insensitive" });
  return (sender) => (sender.includes("@") ? addresses(sender) : phones(sender));
}

const PHONE = /^\+?[0-9][0-9 .()-]*$/;
