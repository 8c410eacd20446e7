/** `POST /provider-d`: signed deliveries of one bot. */
import { randomBytes } from "node:crypto";
import type { FeatureContext, Inbound, Ingress, Json, RawRequest, SampleMessage, Verdict } from "@svc/contract";
import { fieldsOf, hmacSha256Hex, readJson, senderGate, verifyHmacSha256 } from "@svc/kit";
import type { Config } from "./index.ts";
import * as v from "valibot";
import {
  type Rendered,
  type DeliveryContext,
  anyId,
  anyText,
  anyWord,
  contentOf,
  hasAttachment,
  isOwnName,
  numberOf,
  renderText,
  richParameters,
  senderOf,
} from "./rich-text.ts";

export function createIngress({ config, log }: FeatureContext<Config>, secret: string | undefined): Ingress {
  const mayWrite = senderGate({ allowed: config.allowed_users, mode: "exact", log, channel: CHANNEL });
  return {
    path: "/provider-d",
    methods: ["POST"],
    signed: secret !== undefined,
    verify: (request) => (secret === undefined ? { ok: true } : verify(secret, request)),
    parse({ body }) {
      const message = inboundOf(readJson(body), {
        channel: CHANNEL,
        baseUrl: config.base_url,
        botName: config.bot_name,
      });
      return message !== undefined && mayWrite(message.sender) ? { inbound: [message] } : {};
    },
    sample(message) {
      const from = message.from ?? config.allowed_users.find((user) => user !== "*") ?? "sample-user";
      const body = Buffer.from(JSON.stringify(sampleActivity({ ...message, from })));
      const random = randomBytes(32).toString("hex");
      const signature = secret === undefined ? {} : signed(random, hmacSha256Hex(secret, [random, body]));
      return { method: "POST", query: "", headers: { "content-type": "application/json", ...signature }, body };
    },
  };
}

const CHANNEL = "provider_d";

/** The specification's names, then the platform's own. */
const HEADERS = ["x-provider-d", "x-nextcloud-talk"] as const;

function verify(secret: string, { headers, body }: RawRequest): Verdict {
  const prefix = HEADERS.find((name) => headers[`${name}-signature`] !== undefined);
  if (prefix === undefined) return { ok: false, code: "BAD_SIGNATURE", why: "there is no signature header" };
  const random = headers[`${prefix}-random`]?.trim();
  // Without it a signature over the body alone would be good for ever.
  if (!random) return { ok: false, code: "BAD_SIGNATURE", why: "there is no random header, or it is blank" };
  const header = headers[`${prefix}-signature`]?.trim();
  if (verifyHmacSha256({ secret, parts: [random, body], header, prefix: "optional" }))
    return { ok: true, once: random };
  return { ok: false, code: "BAD_SIGNATURE", why: "the signature is not of this body and secret" };
}

const signed = (random: string, signature: string) => ({
  "x-nextcloud-talk-random": random,
  "x-nextcloud-talk-signature": signature,
});

// What a delivery says: a message of a person, a reaction, or nothing that is answered.

/** Undefined unless it is a message or a reaction from a person, not a bot. */
function inboundOf(payload: Json, delivery: DeliveryContext): Inbound | undefined {
  const { type } = fieldsOf(payload);
  if (typeof type !== "string") return undefined;
  return type === "message" ? inboundOfLegacy(payload, delivery) : inboundOfActivity(payload, delivery);
}

// The shape before ActivityStreams: the message as the chat API has it, beside its room.

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

function inboundOfLegacy(payload: Json, { channel, baseUrl, botName }: DeliveryContext): Inbound | undefined {
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

/** ActivityStreams 2.0, as the server has sent it from its first version with bots on. */
const person = v.object({
  type: anyText,
  /** `users/ada`, `guests/<hash>`, `bots/bot-<hash>`. */
  id: v.pipe(v.string(), v.maxLength(512), v.regex(/^[a-z_]+\/.*\S/s)),
  name: anyWord,
});

const note = v.object({ type: v.literal("Note"), id: anyId, name: anyText, content: anyText });

const activity = v.object({
  type: v.picklist(["Create", "Activity", "Like"]),
  actor: person,
  object: v.object({
    ...note.entries,
    inReplyTo: v.fallback(v.optional(v.object({ actor: v.object({ name: anyText }), object: note })), undefined),
  }),
  target: v.object({ id: anyId }),
  /** The emoji of a `Like`. */
  content: anyText,
});
type Activity = v.InferOutput<typeof activity>;

function inboundOfActivity(payload: Json, delivery: DeliveryContext): Inbound | undefined {
  const parsed = v.safeParse(activity, payload);
  if (!parsed.success) return undefined;
  const { actor } = parsed.output;
  const [kind, id] = splitOnce(actor.id);
  if (kind === "bots" || actor.type === "Application" || isOwnName(actor.name, delivery.botName)) return undefined;
  const from = { sender: senderOf(kind, id), ...(actor.name !== "" && { senderName: actor.name }) };
  return parsed.output.type === "Like"
    ? reactionOf(parsed.output, from, delivery)
    : messageOf(parsed.output, from, delivery);
}

type From = Pick<Inbound, "sender" | "senderName">;

function messageOf({ type, object, target }: Activity, from: From, delivery: DeliveryContext): Inbound | undefined {
  const content = contentOf(object.content);
  if (type === "Activity" && !isShare(object.name, content)) return undefined;
  const { text, media } = renderText(content, delivery.baseUrl);
  if (text.trim() === "") return undefined;
  // Field by field: to spread objects that are there or not takes longer than all else here.
  const inbound: { -readonly [Name in keyof Inbound]: Inbound[Name] } = {
    ...from,
    id: object.id,
    conversation: { channel: delivery.channel, id: target.id },
    // A delivery does not say how many people are in the room.
    group: true,
    text: `${quoteOf(object, delivery)}${text}`,
  };
  const number = numberOf(object.id);
  if (number !== undefined) inbound.sequence = number;
  const replyData = replyDataOf(number);
  if (replyData !== undefined) inbound.replyData = replyData;
  if (media.length > 0) inbound.media = media;
  return inbound;
}

/**
 * What people share is a system message to the server. It told the name of the kind from Talk 23 on as "message", before
 * that as a blank; every other system message has its own name.
 */
const isShare = (name: string, content: ReturnType<typeof contentOf>): boolean =>
  ["", "message", "file_shared", "object_shared"].includes(name) && hasAttachment(content);

const MAX_QUOTE_CHARS = 1000;

/** The message that this one quotes, in front of it: it may be another bot's, or of a time before this conversation. */
function quoteOf({ inReplyTo }: Activity["object"], { baseUrl }: DeliveryContext): string {
  if (inReplyTo === undefined) return "";
  const { text }: Rendered = renderText(contentOf(inReplyTo.object.content), baseUrl);
  if (text.trim() === "") return "";
  const short = text.length > MAX_QUOTE_CHARS ? `${text.slice(0, MAX_QUOTE_CHARS).toWellFormed()}…` : text;
  const quoted = `${inReplyTo.actor.name || "Someone"}: ${short}`.split("\n").map((line) => `> ${line}`);
  return `${quoted.join("\n")}\n\n`;
}

function reactionOf({ object, target, actor, content }: Activity, from: From, { channel }: DeliveryContext): Inbound {
  return {
    kind: "reaction",
    id: `like:${object.id}:${actor.id}:${content}`.slice(0, 200),
    conversation: { channel, id: target.id },
    ...from,
    group: true,
    text: content,
  };
}

function splitOnce(id: string): [kind: string, id: string] {
  const at = id.indexOf("/");
  return [id.slice(0, at), id.slice(at + 1)];
}

/** Stored with a message so that its answer is shown, and threaded, as a reply to it. */
const replyDataOf = (messageId: number | undefined): Json | undefined =>
  messageId === undefined ? undefined : { replyTo: messageId };

export function replyTargetOf(data: Json | undefined): number | undefined {
  const parsed = v.safeParse(v.object({ replyTo: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) }), data);
  return parsed.success ? parsed.output.replyTo : undefined;
}

// A delivery as the server makes it, for `svc webhook send` and tests.

/** No token of a real conversation has a hyphen. */
export const SAMPLE_ROOM = "svc-sample";

const sampleActivity = ({ text, from, id }: SampleMessage & { readonly from: string }): Json => ({
  type: "Create",
  actor: { type: "Person", id: `users/${from}`, name: from, talkParticipantType: "3" },
  object: {
    type: "Note",
    id,
    name: "message",
    content: JSON.stringify({ message: text, parameters: [] }),
    mediaType: "text/markdown",
  },
  target: { type: "Collection", id: SAMPLE_ROOM, name: "Sample" },
});
