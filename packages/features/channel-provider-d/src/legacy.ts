/** The shape before ActivityStreams: the message as the chat API has it, beside its room. */
import type { Inbound, Json } from "@svc/contract";
import * as v from "valibot";
import { anyId, anyText, anyWord, isOwnName, numberOf, senderOf, type Surroundings } from "./fields.ts";
import { replyDataOf } from "./reply-target.ts";
import { renderText, richParameters } from "./rich-text.ts";

/** That a date holds. */
const LAST_SECOND = 8.64e12;

const delivery = v.object({
  type: v.literal("message"),
  object: v.fallback(v.object({ token: anyText }), { token: "" }),
  message: v.object({
    id: anyId,
    token: v.fallback(v.optional(anyId), undefined),
    actorType: v.pipe(v.string(), v.maxLength(100)),
    actorId: v.pipe(v.string(), v.maxLength(400), v.regex(/\S/)),
    actorDisplayName: anyWord,
    timestamp: v.fallback(v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(LAST_SECOND))), undefined),
    messageType: anyText,
    systemMessage: anyText,
    message: anyText,
    messageParameters: v.optional(v.unknown()),
  }),
});

/** `comment_deleted`, `command` and `system` are no words of a person. */
const MESSAGE_TYPES = new Set(["", "comment", "voice-message", "object_shared"]);
const BOT_ACTORS = new Set(["bots", "application"]);

export function inboundOfLegacy(payload: Json, { channel, baseUrl, botName }: Surroundings): Inbound | undefined {
  const parsed = v.safeParse(delivery, payload);
  if (!parsed.success) return undefined;
  const { message, object } = parsed.output;
  const kind = message.actorType.toLowerCase();
  if (BOT_ACTORS.has(kind) || isOwnName(message.actorDisplayName, botName)) return undefined;
  if (message.systemMessage !== "" || !MESSAGE_TYPES.has(message.messageType)) return undefined;
  const room = message.token ?? object.token;
  const content = { message: message.message, parameters: richParameters(message.messageParameters) };
  const { text, media } = renderText(content, baseUrl);
  if (room === "" || text.trim() === "") return undefined;
  const number = numberOf(message.id);
  const replyData = replyDataOf(number);
  return {
    id: message.id,
    ...(number !== undefined && { sequence: number }),
    conversation: { channel, id: room },
    sender: senderOf(kind, message.actorId),
    ...(message.actorDisplayName !== "" && { senderName: message.actorDisplayName }),
    group: true,
    text,
    ...(media.length > 0 && { media }),
    ...(message.timestamp !== undefined && { sentAtMs: message.timestamp * 1000 }),
    ...(replyData !== undefined && { replyData }),
  };
}
