/** The channel in Cloud mode: deliveries come in by the webhook, everything else goes through the Graph API. */
import {
  type Channel,
  type Contributions,
  DEDUPE_MS,
  type FeatureContext,
  type Ingress,
  type Json,
  type Logger,
  type RawRequest,
  type SampleDelivery,
  type SampleMessage,
  type Verdict,
} from "@svc/contract";
import {
  MEDIA_KINDS,
  asCheckFailure,
  equalSecrets,
  hmacSha256Hex,
  hubChallenge,
  readJson,
  runChannel,
  senderGate,
  sentPartsIn,
  verifyHmacSha256,
} from "@svc/kit";
import { type CloudConfig, type Config, cloudConfig } from "./config.ts";
import { MAX_MEDIA_BYTES, inboundMedia } from "./files.ts";
import { type GraphApi, graphApi } from "./graph.ts";
import { TEXT_CHARS, messageSender, promptPoster } from "./send.ts";
import { CHANNEL, type Fields, PRODUCT, isUserId, phoneOf, textOf, userIdOf } from "./protocol.ts";
import { deliveryReader } from "./delivery.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const config = cloudConfig(context.config);
  // Web mode: another feature brings the channel.
  if (config === undefined) return {};
  const graph = graphApi(config, context);
  const check = (signal: AbortSignal): Promise<string> => accountLine(graph, config.phoneNumberId, signal);

  const send = messageSender(graph, config.phoneNumberId, sentPartsIn(context));
  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send,
    prompts: promptPoster(graph, config.phoneNumberId, send),
    ...presenceOf(graph, config.phoneNumberId),
    media: {
      maxBytes: MAX_MEDIA_BYTES,
      sends: MEDIA_KINDS,
      voiceNotes: true,
      fetch: inboundMedia(graph, config, context),
    },
    check,
  };
  return {
    channel,
    ingress: [ingressOf(config, context.log)],
    async register(signal) {
      signal.throwIfAborted();
      if (context.config.session_path === undefined) return;
      context.log.warn("phone_number_id and session_path are both set: Cloud mode is used, session_path is not");
    },
    run: (signal) => runChannel(check, context.log, signal),
  };
}

// Who we are on the platform.

/**
 * One line for a person.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/phone-numbers
 */
async function accountLine(graph: GraphApi, phoneNumberId: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const fields = "display_phone_number,verified_name,quality_rating";
  return described(await graph.get(phoneNumberId, { fields }, signal).catch(asCheckFailure));
}

function described({ display_phone_number: number, verified_name: name, quality_rating: rating }: Fields): string {
  const quality = textOf(rating);
  const who = [textOf(name), textOf(number)].filter((part) => part !== undefined).join(", ");
  return printable(`${who === "" ? "a phone number without a name" : who}${quality ? `, quality ${quality}` : ""}`);
}

/** It goes to a terminal. */
const printable = (text: string): string => text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").slice(0, 200);

/**
 * Read marks, and "… is writing", which the platform knows only as an answer to a message and which marks it as read too.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/mark-message-as-read
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/typing-indicators
 */
const TYPING_LASTS_MS = 25_000;

type Presence = Required<Pick<Channel, "readMarks" | "typing">>;

function presenceOf(graph: GraphApi, phoneNumberId: string): Presence {
  const read = (messageId: string) => ({ messaging_product: PRODUCT, status: "read", message_id: messageId });
  const path = `${phoneNumberId}/messages`;
  return {
    readMarks: {
      async mark(_conversation, messageId, signal) {
        await graph.post(path, read(messageId), signal);
      },
    },
    typing: {
      lastsMs: TYPING_LASTS_MS,
      async start(_conversation, messageId, signal) {
        if (messageId === undefined) return;
        await graph.post(path, { ...read(messageId), typing_indicator: { type: "text" } }, signal);
      },
    },
  };
}

/**
 * The way in: the hub handshake by GET, deliveries by POST, signed over the raw bytes.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint
 */
const SIGNATURE_HEADER = "x-hub-signature-256";

function ingressOf(config: CloudConfig, log: Logger): Ingress {
  const { appSecret, verifyToken } = config;
  const read = deliveryReader(config.phoneNumberId, allowedSenders(config.allowedNumbers, log), log);
  return {
    path: "/provider-a",
    methods: ["GET", "POST"],
    signed: appSecret !== undefined,
    // The platform repeats a delivery for seven days at most; an older one is a replay whose id was forgotten.
    maxAgeMs: DEDUPE_MS,
    verify: (request) => (request.method === "GET" ? handshake(request, verifyToken) : signature(request, appSecret)),
    parse(request) {
      if (request.method === "GET") return { reply: hubChallenge(request) };
      return read(readJson(request.body), request.receivedAtMs);
    },
    sample: (message) => sampleDelivery(message, config),
  };
}

function handshake({ query }: RawRequest, verifyToken: string): Verdict {
  const code = "BAD_VERIFY_TOKEN";
  const mode = query.get("hub.mode");
  if (mode !== null && mode !== "subscribe") return { ok: false, code, why: "hub.mode is not subscribe" };
  const isRight = equalSecrets(query.get("hub.verify_token") ?? undefined, verifyToken);
  return isRight ? { ok: true } : { ok: false, code, why: "hub.verify_token is not the configured verify_token" };
}

/** Without a secret the signature can't be checked; `signed` says so. */
function signature({ headers, body }: RawRequest, secret: string | undefined): Verdict {
  if (secret === undefined) return { ok: true };
  const header = headers[SIGNATURE_HEADER];
  if (verifyHmacSha256({ secret, parts: [body], header, prefix: "required" })) return { ok: true };
  const why = header === undefined ? "X-Hub-Signature-256 is missing" : "X-Hub-Signature-256 does not fit the body";
  return { ok: false, code: "BAD_SIGNATURE", why };
}

/** A delivery as the platform would make it: for `svc webhook send`, and for tests. */
function sampleDelivery(message: SampleMessage, config: CloudConfig): SampleDelivery {
  const body = Buffer.from(JSON.stringify(payloadOf(message, config)));
  const { appSecret } = config;
  return {
    method: "POST",
    query: "",
    headers: {
      "content-type": "application/json",
      ...(appSecret !== undefined && { "x-hub-signature-256": `sha256=${hmacSha256Hex(appSecret, [body])}` }),
    },
    body,
  };
}

function payloadOf({ text, from, id, atMs }: SampleMessage, { phoneNumberId, allowedNumbers }: CloudConfig): Json {
  const { contact, sender } = senderOf(from ?? allowedNumbers.find((entry) => entry.trim() !== "*") ?? EXAMPLE_SENDER);
  const message = { ...sender, id, timestamp: String(Math.floor(atMs / 1000)), type: "text", text: { body: text } };
  const value = {
    messaging_product: PRODUCT,
    metadata: { display_phone_number: "15550000000", phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: "svc webhook send" }, ...contact }],
    messages: [message],
  };
  return { object: "whatsapp_business_account", entry: [{ id: "0", changes: [{ field: "messages", value }] }] };
}

/** A number of the range for examples. */
const EXAMPLE_SENDER = "+15550001111";

function senderOf(who: string): { contact: Record<string, Json>; sender: Record<string, Json> } {
  const userId = userIdOf(who.trim());
  if (userId !== undefined) return { contact: { user_id: userId }, sender: { from_user_id: userId } };
  const digits = (phoneOf(who.replaceAll(/[\s()./-]/g, "")) ?? who).replace("+", "");
  return { contact: { wa_id: digits }, sender: { from: digits } };
}

/** Numbers are compared as numbers; the id of someone who hides the number is compared letter by letter. */
function allowedSenders(allowed: readonly string[], log: Logger): (sender: string) => boolean {
  const byNumber = senderGate({ allowed, mode: "phone", log, channel: CHANNEL });
  const byId = senderGate({ allowed, mode: "exact", log, channel: CHANNEL });
  return (sender) => (isUserId(sender) ? byId(sender) : byNumber(sender));
}
