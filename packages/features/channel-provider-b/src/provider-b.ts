/** The channel: receives messages by its webhook, and sends by the partner API. */
import {
  type Channel,
  type Contributions,
  type Conversation,
  type FeatureContext,
  type Ingress,
  type Json,
  type Media,
  type OutgoingFile,
  type OutgoingMessage,
  type Receipt,
  type SampleDelivery,
  type SampleMessage,
  SvcError,
} from "@svc/contract";
import {
  type PlatformAnswer,
  asCheckFailure,
  downloadMedia,
  pathPart,
  platformCall,
  readJson,
  runChannel,
} from "@svc/kit";
import { inboundOf, isHandle, normalisedHandle, senderFilter } from "./payload.ts";
import type { Config } from "./index.ts";
import { signatureHeaders, verifier } from "./signature.ts";
import * as v from "valibot";
import { hash } from "node:crypto";

export function create(context: FeatureContext<Config>): Contributions {
  const channel = channelOf(context);
  return {
    channel,
    ingress: [ingressOf(context)],
    run: (signal) => runChannel(channel.check, context.log, signal),
  };
}

function channelOf(context: FeatureContext<Config>): Channel & Required<Pick<Channel, "check">> {
  const { from_phone: fromPhone } = context.config;
  const api = apiOf(context);
  const upload = uploader(api, context);
  return {
    // The limit of one text part: https://docs.linqapp.com/getting-started/key-concepts/
    text: { maxChars: 10_000 },
    send: (message, signal) => sendMessage({ api, upload, fromPhone }, message, signal),
    typing: typing(api),
    readMarks: readMarks(api),
    media: { maxBytes: MAX_BYTES, sends: ["image", "audio", "video", "document"], fetch: mediaFetcher(context) },
    check: (signal) => accountLine(api, fromPhone, signal),
  };
}

function ingressOf({ config, log }: FeatureContext<Config>): Ingress {
  const { signing_secret: secret } = config;
  const mayWrite = senderFilter(config.allowed_senders, log);
  return {
    path: "/provider-b",
    methods: ["POST"],
    signed: secret !== undefined,
    verify: secret === undefined ? () => ({ ok: true }) : verifier(secret),
    parse({ body }) {
      const inbound = inboundOf(readJson(body));
      return inbound !== undefined && mayWrite(inbound.sender) ? { inbound: [inbound] } : {};
    },
    sample: (message) => sampleOf(config, message),
  };
}

interface SendDeps {
  readonly api: Api;
  readonly upload: Upload;
  readonly fromPhone: string;
}

/** Sends into the conversation's chat. If the platform no longer knows the chat, starts a new one with the sender. */
async function sendMessage(
  { api, upload, fromPhone }: SendDeps,
  { conversation, text, files = [], deliveryId, replyData }: OutgoingMessage,
  signal: AbortSignal,
): Promise<Receipt> {
  signal.throwIfAborted();
  const parts: Json[] = text.trim() === "" ? [] : [{ type: "text", value: text }];
  for (const file of files) parts.push({ type: "media", attachment_id: await upload(file, signal) });
  // One request and one key for text and files: the platform delivers a repeated request once.
  const message = { parts, idempotency_key: deliveryId };
  const startChat = async (to: string): Promise<Receipt> =>
    receiptOf(await api("/chats", { json: { from: fromPhone, to: [to], message }, signal }), conversation);

  // `channel_send` may name a person instead of a chat.
  if (isHandle(conversation.id)) return startChat(conversation.id);
  const path = `/chats/${pathPart(conversation.id)}/messages`;
  const answer = await api(path, { json: { message }, handled: [404], signal });
  if (answer.status !== 404) return receiptOf(answer, conversation);
  // Another 404: for example the key of a message that was deleted since, which must not be sent again.
  if ((errorCodeOf(answer) ?? CHAT_NOT_FOUND) !== CHAT_NOT_FOUND) throw refusalOf(answer);
  const recipient = v.safeParse(REPLY_DATA, replyData);
  if (recipient.success) return startChat(recipient.output.to);
  throw new SvcError("DELIVERY_REFUSED", "The platform has no such chat any more.");
}

const CHAT_NOT_FOUND = 2001;
const REPLY_DATA = v.object({ to: v.string() });

/**
 * An accepted message without a readable id is still sent. A message to a number opens a chat: answers come from that chat's id,
 * never from the number.
 */
function receiptOf({ json }: { readonly json: Json | undefined }, { channel, id }: Conversation): Receipt {
  const { success, output } = v.safeParse(SENT, json);
  if (!success) return {};
  const { message, chatId } = output;
  return { platformId: message.id, ...(chatId !== undefined && chatId !== id && { opened: { channel, id: chatId } }) };
}

const ID = v.pipe(v.string(), v.nonEmpty(), v.maxLength(512));
const MESSAGE = v.object({ id: ID });
const CHAT_ID = v.fallback(v.optional(ID), undefined);
/** The response for a new chat, and for an existing one. */
const SENT = v.union([
  v.pipe(
    v.object({ chat: v.object({ id: CHAT_ID, message: MESSAGE }) }),
    v.transform(({ chat: { id, message } }) => ({ message, chatId: id })),
  ),
  v.pipe(
    v.object({ chat_id: CHAT_ID, message: MESSAGE }),
    v.transform(({ chat_id: chatId, message }) => ({ message, chatId })),
  ),
]);

// Files. A received message has a link to each; a file to send is uploaded before its message.

/** Below the platform's 100 MB, because files pass through the agent's workspace. */
const MAX_BYTES = 26_214_400;

type Context = Pick<FeatureContext, "fetch" | "clock">;

/** Sends no token: the link contains its own permission, and may lead to any server. */
const mediaFetcher =
  ({ fetch, clock }: Context): Media["fetch"] =>
  ({ ref }, write, signal) =>
    downloadMedia(fetch, { url: ref, maxBytes: MAX_BYTES, write, signal, nowMs: clock.now() });

/** Resolves with the platform's id of the uploaded file. */
type Upload = (file: OutgoingFile, signal: AbortSignal) => Promise<string>;

function uploader(api: Api, { fetch }: Context): Upload {
  return async (file, signal) => {
    const bytes = await file.read();
    const description = { filename: file.name, content_type: file.mimeType, size_bytes: bytes.byteLength };
    const { json } = await api("/attachments", { json: description, signal });
    const target = v.safeParse(UPLOAD_TARGET, json);
    if (!target.success) throw new SvcError("DELIVERY_FAILED", "The platform named no address for the upload.");
    const { attachment_id, upload_url, required_headers } = target.output;
    // Another server: it gets the required headers and no token. The HTTP client sets host and length itself.
    const headers = Object.fromEntries(Object.entries(required_headers).filter(([name]) => !SET_BY_CLIENT.test(name)));
    const { status } = await fetch(upload_url, { method: "PUT", headers, body: bytes, timeoutMs: UPLOAD_MS, signal });
    if (status >= 200 && status <= 299) return attachment_id;
    // Retry any failure: the next try gets a new upload URL.
    throw new SvcError("DELIVERY_FAILED", `The platform's file store answered with status ${status}.`);
  };
}

/** Below the minute that one attempt to send may take. */
const UPLOAD_MS = 50_000;
const SET_BY_CLIENT = /^(?:host|content-length)$/i;

const UPLOAD_TARGET = v.object({
  attachment_id: v.pipe(v.string(), v.nonEmpty()),
  upload_url: v.string(),
  required_headers: v.optional(v.record(v.string(), v.string()), {}),
});

// Typing indicator and read receipts.

/** Only iMessage chats of two support either. For other chats the platform answers 403 or 409, which is no error here. */
const NOT_SUPPORTED = [403, 404, 409];

/** The indicator ends when a message is sent. https://docs.linqapp.com/guides/chats/typing-indicators/ */
const typing = (api: Api): NonNullable<Channel["typing"]> => ({
  lastsMs: 60_000,
  async start({ id }, _messageId, signal) {
    // The chat does not exist before the answer.
    if (isHandle(id)) return;
    await api(`/chats/${pathPart(id)}/typing`, { handled: NOT_SUPPORTED, signal });
  },
});

/** Marks the whole chat: the platform can't mark one message. https://docs.linqapp.com/api/resources/chats/ */
const readMarks = (api: Api): NonNullable<Channel["readMarks"]> => ({
  async mark({ id }, _messageId, signal) {
    if (isHandle(id)) return;
    await api(`/chats/${pathPart(id)}/read`, { handled: NOT_SUPPORTED, signal });
  },
});

/** `Channel.check`: whether `from_phone` is one of the lines that the token may send from. */
async function accountLine(api: Api, fromPhone: string, signal: AbortSignal): Promise<string> {
  const { json } = await api("/phone_numbers", { method: "GET", signal }).catch(asCheckFailure);
  const { success, output } = v.safeParse(LINES, json);
  if (!success) return "The platform takes the token; its list of lines can't be read.";
  const lines = output.phone_numbers.map(({ phone_number: number }) => normalisedHandle(number));
  const count = lines.length === 1 ? "the account's line" : `one of the account's ${lines.length} lines`;
  return lines.includes(fromPhone)
    ? `${fromPhone}, ${count}`
    : `from_phone is not one of the account's ${lines.length} lines: svc can't start new chats.`;
}

const LINES = v.object({ phone_numbers: v.array(v.object({ phone_number: v.string() })) });

// Requests to the partner API, and its errors.

interface ApiRequest {
  readonly method?: "GET" | "POST";
  readonly json?: Json;
  /** Error statuses that the caller handles itself. */
  readonly handled?: readonly number[];
  readonly signal: AbortSignal;
}

/** Throws as `platformCall` does. `path` begins with a slash. */
type Api = (path: string, request: ApiRequest) => Promise<PlatformAnswer>;

function apiOf({ config, fetch, clock }: FeatureContext<Config>): Api {
  return async (path, { method = "POST", json, handled = [], signal }) => {
    const answer = await platformCall(fetch, {
      url: `${config.api_url}${path}`,
      method,
      headers: { authorization: `Bearer ${config.api_token}` },
      ...(json !== undefined && { json }),
      // The error code in the body tells these apart: `refusalOf`.
      answers: [403, 404, 409],
      signal,
      nowMs: clock.now(),
    });
    if (answer.status < 400 || handled.includes(answer.status)) return answer;
    throw refusalOf(answer);
  };
}

/** Undefined for a response of another form. https://docs.linqapp.com/error/ */
function errorCodeOf({ json }: PlatformAnswer): number | undefined {
  const { success, output } = v.safeParse(ERROR, json);
  return success ? output.error.code : undefined;
}

const ERROR = v.object({ error: v.object({ code: v.number() }) });

/** The error code decides: most 403 concern the message, not the credentials, and some 404 and 409 are temporary. */
function refusalOf(answer: PlatformAnswer): SvcError {
  const known = REFUSALS[errorCodeOf(answer) ?? 0];
  if (known !== undefined) return new SvcError(...known);
  const code = answer.status === 403 ? "CHANNEL_UNAUTHORIZED" : "DELIVERY_REFUSED";
  return new SvcError(code, `The platform answered with status ${answer.status}.`);
}

const REFUSALS: Readonly<Record<number, ConstructorParameters<typeof SvcError>>> = {
  2002: ["DELIVERY_REFUSED", "The platform deleted this message after it was sent."],
  2005: ["DELIVERY_REFUSED", "The chat belongs to another account of the platform."],
  2006: [
    "CHANNEL_UNAUTHORIZED",
    "The account has no right to the line.",
    { hint: "Check channels_config.provider_b.from_phone." },
  ],
  2007: ["DELIVERY_FAILED", "The platform has not finished with the file."],
  2008: ["DELIVERY_REFUSED", "The platform's sandbox delivers only to people who wrote first."],
  2009: ["DELIVERY_FAILED", "The platform has not finished with the chat."],
  2011: ["DELIVERY_REFUSED", "The platform has not enabled this for the account."],
  2013: ["DELIVERY_REFUSED", "The line has left the chat."],
  2024: ["DELIVERY_REFUSED", "The recipient has opted out of messages at the platform."],
};

/** A delivery in the platform's current form, for `svc webhook send` and tests. */
function sampleOf(config: Config, { text, from, id, atMs }: SampleMessage): SampleDelivery {
  const sender = from ?? config.allowed_senders.find((entry) => entry !== "*") ?? EXAMPLE_NUMBER;
  const at = new Date(atMs).toISOString();
  const handle = { service: "iMessage", status: "active", joined_at: at, left_at: null };
  const payload = {
    api_version: "v3",
    webhook_version: "2026-02-03",
    event_type: "message.received",
    event_id: uuidOf(`event ${id}`),
    created_at: at,
    trace_id: hash("md5", id, "hex"),
    partner_id: "svc-webhook-send",
    data: {
      id,
      direction: "inbound",
      chat: {
        id: chatOf(sender),
        is_group: false,
        owner_handle: { id: uuidOf(config.from_phone), handle: config.from_phone, is_me: true, ...handle },
        health_status: { status: "HEALTHY", updated_at: at, doc_url: "" },
      },
      sender_handle: { id: uuidOf(sender), handle: sender, is_me: false, ...handle },
      parts: [{ type: "text", value: text, text_decorations: null }],
      service: "iMessage",
      preferred_service: "auto",
      effect: null,
      reply_to: null,
      idempotency_key: null,
      sent_at: at,
      delivered_at: null,
      read_at: null,
    },
  };
  const body = Buffer.from(JSON.stringify(payload));
  const signed = config.signing_secret === undefined ? {} : signatureHeaders(config.signing_secret, body, atMs);
  const headers = { "content-type": "application/json", "x-webhook-event": "message.received", ...signed };
  return { method: "POST", query: "", headers, body };
}

/** From the range reserved for examples, 555-0100 to 555-0199. */
const EXAMPLE_NUMBER = "+15555550100";

/**
 * The same chat for each sample of a sender, so that they are one conversation. The platform does not know it, so the answer starts
 * a real chat with the sender.
 */
const chatOf = (sender: string): string => uuidOf(`chat with ${sender}`);

/** The platform accepts only UUIDs as ids. Version 8 of RFC 9562 may contain any bits. */
function uuidOf(text: string): string {
  const hex = hash("sha256", text, "hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}
