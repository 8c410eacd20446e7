/** The channel: what comes in by its webhook, what goes out by the partner API. */
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
import { handleGate, inboundOf, isHandle, normalised } from "./payload.ts";
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
    // https://docs.linqapp.com/getting-started/key-concepts/: of one text part.
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
  const mayWrite = handleGate(config.allowed_senders, log);
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

// Who we are there: the lines that the token may send from.

/** One line for a person. Throws as `Channel.check`. */
async function accountLine(api: Api, fromPhone: string, signal: AbortSignal): Promise<string> {
  const { json } = await api("/phone_numbers", { method: "GET", signal }).catch(asCheckFailure);
  const { success, output } = v.safeParse(LINES, json);
  if (!success) return "The platform takes the token; its list of lines can't be read.";
  const lines = output.phone_numbers.map(({ phone_number: number }) => normalised(number));
  const count = lines.length === 1 ? "the account's line" : `one of the account's ${lines.length} lines`;
  return lines.includes(fromPhone)
    ? `${fromPhone}, ${count}`
    : `from_phone is not one of the account's ${lines.length} lines: svc can't start new chats.`;
}

const LINES = v.object({ phone_numbers: v.array(v.object({ phone_number: v.string() })) });

// Signs of activity: the typing indicator and read receipts.

/** Only iMessage chats of two have either; of others the platform says 403 or 409, which is no failure of ours. */
const NOT_THERE = [403, 404, 409];

/** https://docs.linqapp.com/guides/chats/typing-indicators/ – ends by itself when a message is sent. */
const typing = (api: Api): NonNullable<Channel["typing"]> => ({
  lastsMs: 60_000,
  async start({ id }, _messageId, signal) {
    // A chat that the answer will begin.
    if (isHandle(id)) return;
    await api(`/chats/${pathPart(id)}/typing`, { answers: NOT_THERE, signal });
  },
});

/** https://docs.linqapp.com/api/resources/chats/ – the platform marks all of a chat, not one message. */
const readMarks = (api: Api): NonNullable<Channel["readMarks"]> => ({
  async mark({ id }, _messageId, signal) {
    if (isHandle(id)) return;
    await api(`/chats/${pathPart(id)}/read`, { answers: NOT_THERE, signal });
  },
});

/** A delivery as the platform makes it today, for `svc webhook send` and tests. */
function sampleOf(config: Config, { text, from, id, atMs }: SampleMessage): SampleDelivery {
  const sender = from ?? config.allowed_senders.find((entry) => entry !== "*") ?? NOBODY;
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

/** A number of the range for examples (555-0100 to 555-0199). */
const NOBODY = "+15555550100";

/**
 * The platform knows no such chat, and says so: then the answer begins a real one with the sender. Of one sender always
 * the same, so that several samples are one conversation.
 */
const chatOf = (sender: string): string => uuidOf(`chat with ${sender}`);

/** Ids there are UUIDs, and others are refused as malformed (RFC 9562, version 8: of anything). */
function uuidOf(text: string): string {
  const hex = hash("sha256", text, "hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

/** A message goes into its chat; when the platform knows no such chat, a new one with the sender is begun. */
interface SendDeps {
  readonly api: Api;
  readonly upload: Upload;
  readonly fromPhone: string;
}

async function sendMessage(
  { api, upload, fromPhone }: SendDeps,
  { conversation, text, files = [], deliveryId, replyData }: OutgoingMessage,
  signal: AbortSignal,
): Promise<Receipt> {
  signal.throwIfAborted();
  const parts: Json[] = text.trim() === "" ? [] : [{ type: "text", value: text }];
  for (const file of files) parts.push({ type: "media", attachment_id: await upload(file, signal) });
  // One request for all of it, and one key: however often it is sent again, it is delivered once.
  const message = { parts, idempotency_key: deliveryId };
  const begin = async (to: string): Promise<Receipt> =>
    receiptOf(await api("/chats", { json: { from: fromPhone, to: [to], message }, signal }), conversation);

  // `channel_send` may be told a number instead of a chat.
  if (isHandle(conversation.id)) return begin(conversation.id);
  const path = `/chats/${pathPart(conversation.id)}/messages`;
  const answer = await api(path, { json: { message }, answers: [404], signal });
  if (answer.status !== 404) return receiptOf(answer, conversation);
  // It says 404 of other things too: of a key whose message was deleted meanwhile, which must not be sent again.
  if ((errorCodeOf(answer) ?? CHAT_NOT_FOUND) !== CHAT_NOT_FOUND) throw refusalOf(answer);
  const recipient = v.safeParse(REPLY_DATA, replyData);
  if (recipient.success) return begin(recipient.output.to);
  throw new SvcError("DELIVERY_REFUSED", "The platform has no such chat any more.");
}

const CHAT_NOT_FOUND = 2001;
const REPLY_DATA = v.object({ to: v.string() });

/** An acceptance without an id is one all the same. Answers name the chat by its id, never the number it was begun with. */
function receiptOf({ json }: { readonly json: Json | undefined }, { channel, id }: Conversation): Receipt {
  const { success, output } = v.safeParse(TAKEN, json);
  if (!success) return {};
  const { message, chatId } = output;
  return { platformId: message.id, ...(chatId !== undefined && chatId !== id && { opened: { channel, id: chatId } }) };
}

const ID = v.pipe(v.string(), v.nonEmpty(), v.maxLength(512));
const MESSAGE = v.object({ id: ID });
const CHAT_ID = v.fallback(v.optional(ID), undefined);
/** The answer for a new chat, and for an existing one. */
const TAKEN = v.union([
  v.pipe(
    v.object({ chat: v.object({ id: CHAT_ID, message: MESSAGE }) }),
    v.transform(({ chat: { id, message } }) => ({ message, chatId: id })),
  ),
  v.pipe(
    v.object({ chat_id: CHAT_ID, message: MESSAGE }),
    v.transform(({ chat_id: chatId, message }) => ({ message, chatId })),
  ),
]);

// Files: in from the link that a message came with, out by an upload before the message.

/** The platform takes 100 MB; what goes through an agent's workspace is smaller. */
const MAX_BYTES = 26_214_400;

type Context = Pick<FeatureContext, "fetch" | "clock">;

/** The link carries its own permission and may lead anywhere: our token stays here. */
const mediaFetcher =
  ({ fetch, clock }: Context): Media["fetch"] =>
  ({ ref }, write, signal) =>
    downloadMedia(fetch, { url: ref, maxBytes: MAX_BYTES, write, signal, nowMs: clock.now() });

/** Resolves with the platform's id of the file. */
type Upload = (file: OutgoingFile, signal: AbortSignal) => Promise<string>;

function uploader(api: Api, { fetch }: Context): Upload {
  return async (file, signal) => {
    const bytes = await file.read();
    const told = { filename: file.name, content_type: file.mimeType, size_bytes: bytes.byteLength };
    const { json } = await api("/attachments", { json: told, signal });
    const place = v.safeParse(PLACE, json);
    if (!place.success) throw new SvcError("DELIVERY_FAILED", "The platform gave no place for the file.");
    const { attachment_id, upload_url, required_headers } = place.output;
    // The place is another server's: it gets what was asked for it, not our token. The length is the client's to say.
    const headers = Object.fromEntries(Object.entries(required_headers).filter(([name]) => !CLIENTS_OWN.test(name)));
    const { status } = await fetch(upload_url, { method: "PUT", headers, body: bytes, timeoutMs: UPLOAD_MS, signal });
    if (status >= 200 && status <= 299) return attachment_id;
    // Retry any failure: the next try gets a new upload URL.
    throw new SvcError("DELIVERY_FAILED", `The platform's file store answered with status ${status}.`);
  };
}

/** One attempt to send may take a minute in all. */
const UPLOAD_MS = 50_000;
const CLIENTS_OWN = /^(?:host|content-length)$/i;

const PLACE = v.object({
  attachment_id: v.pipe(v.string(), v.nonEmpty()),
  upload_url: v.string(),
  required_headers: v.optional(v.record(v.string(), v.string()), {}),
});

/** One request to the partner API, with what its answers mean to a message. */
interface ApiRequest {
  readonly method?: "GET" | "POST";
  readonly json?: Json;
  /** Statuses that the caller deals with itself. */
  readonly answers?: readonly number[];
  readonly signal: AbortSignal;
}

/** Throws as `platformCall` does. `path` begins with a slash. */
type Api = (path: string, request: ApiRequest) => Promise<PlatformAnswer>;

function apiOf({ config, fetch, clock }: FeatureContext<Config>): Api {
  return async (path, { method = "POST", json, answers = [], signal }) => {
    const answer = await platformCall(fetch, {
      url: `${config.api_url}${path}`,
      method,
      headers: { authorization: `Bearer ${config.api_token}` },
      ...(json !== undefined && { json }),
      answers: [403, 404, 409],
      signal,
      nowMs: clock.now(),
    });
    if (answer.status < 400 || answers.includes(answer.status)) return answer;
    throw refusalOf(answer);
  };
}

/** https://docs.linqapp.com/error/ – undefined where the answer is not in that form. */
function errorCodeOf({ json }: PlatformAnswer): number | undefined {
  const { success, output } = v.safeParse(ERROR, json);
  return success ? output.error.code : undefined;
}

const ERROR = v.object({ error: v.object({ code: v.number() }) });

/** 403 is said of messages more often than of credentials, and some 404 and 409 pass. */
function refusalOf(answer: PlatformAnswer): SvcError {
  const known = KNOWN[errorCodeOf(answer) ?? 0];
  if (known !== undefined) return new SvcError(...known);
  const code = answer.status === 403 ? "CHANNEL_UNAUTHORIZED" : "DELIVERY_REFUSED";
  return new SvcError(code, `The platform answered with status ${answer.status}.`);
}

const KNOWN: Readonly<Record<number, ConstructorParameters<typeof SvcError>>> = {
  2002: ["DELIVERY_REFUSED", "The platform has deleted this message after it was sent."],
  2005: ["DELIVERY_REFUSED", "The chat belongs to another account of the platform."],
  2006: [
    "CHANNEL_UNAUTHORIZED",
    "The account has no right to the line.",
    { hint: "Check channels_config.provider_b.from_phone." },
  ],
  2007: ["DELIVERY_FAILED", "The platform has not finished with the file."],
  2008: ["DELIVERY_REFUSED", "In the platform's sandbox only who has written first can be written to."],
  2009: ["DELIVERY_FAILED", "The platform has not finished with the chat."],
  2011: ["DELIVERY_REFUSED", "The platform has not enabled this for the account."],
  2013: ["DELIVERY_REFUSED", "The line has left the chat."],
  2024: ["DELIVERY_REFUSED", "The recipient has asked the platform not to be written to."],
};
