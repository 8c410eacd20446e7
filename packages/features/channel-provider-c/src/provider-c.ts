/** The channel: what comes in by its webhook, what goes out by the API. */
import {
  type Channel,
  type Contributions,
  type FeatureContext,
  type InboundMedia,
  type Ingress,
  type Json,
  type OutgoingFile,
  type OutgoingMessage,
  type Receipt,
  type SampleDelivery,
  type SampleMessage,
  SvcError,
} from "@svc/contract";
import {
  type PlatformAnswer,
  type PlatformCall,
  type SentPartsOf,
  asCheckFailure,
  downloadMedia,
  equalSecrets,
  hubChallenge,
  multipart,
  platformCall,
  readJson,
  runChannel,
  senderGate,
  sentPartsIn,
} from "@svc/kit";
import type { Config } from "./index.ts";
import { addressOf, inboundOf, isOwnFile, phoneOf, recipientOf, targetOf } from "./payload.ts";
import * as v from "valibot";

export function create(context: FeatureContext<Config>): Contributions {
  const channel = channelOf(context);
  return {
    channel,
    ingress: [ingressOf(context)],
    run: (signal) => runChannel(channel.check, context.log, signal),
  };
}

function channelOf(context: FeatureContext<Config>): Channel & Required<Pick<Channel, "check">> {
  const { tenant_id: tenantId } = context.config;
  const api = apiOf(context);
  const sentParts = sentPartsIn(context);
  return {
    text: { maxChars: 4096 },
    send: (message, signal) => sendMessage({ api, sentParts, tenantId }, message, signal),
    // https://docs.wati.io/reference/conversations_sendtypingindicator; it marks what came as read, too.
    typing: {
      lastsMs: 25_000,
      async start({ id }, _messageId, signal) {
        const target = targetOf(tenantId, id);
        // 403, 404: the account has it turned off, which is no failure of ours.
        await api("/conversations/typingIndicator", { ...json({ target }), answers: [403, 404], signal });
      },
    },
    media: {
      maxBytes: MAX_BYTES,
      sends: ["image", "audio", "video", "document"],
      voiceNotes: true,
      fetch: (media, write, signal) => fetchMedia(context, media, write, signal),
    },
    check: (signal) => accountLine(api, tenantId, signal),
  };
}

const MAX_BYTES = 26_214_400;

async function fetchMedia(
  { config, fetch, clock }: FeatureContext<Config>,
  { ref }: InboundMedia,
  write: (chunk: Uint8Array) => Promise<void>,
  signal: AbortSignal,
) {
  const url = addressOf(config.api_url, ref);
  if (!isOwnFile(config.api_url, url)) {
    throw new SvcError("MEDIA_REFUSED", "The file's link does not lead to the host and port of api_url.");
  }
  const headers = authorization(config);
  const limits = { maxBytes: MAX_BYTES, redirects: "same-host" } as const;
  return downloadMedia(fetch, { url, headers, ...limits, write, signal, nowMs: clock.now() });
}

function ingressOf({ config, log }: FeatureContext<Config>): Ingress {
  const allowed = config.allowed_numbers;
  const mayWrite = senderGate({ allowed, mode: "phone", log, channel: "provider_c" });
  return {
    path: "/provider-c",
    methods: ["GET", "POST"],
    signed: config.callback_token !== undefined,
    verify: verifier(config),
    parse(request) {
      if (request.method === "GET") return { reply: hubChallenge(request) };
      const payload = readJson(request.body);
      const inbound = (Array.isArray(payload) ? payload : [payload]).flatMap((event) => inboundOf(event) ?? []);
      const allowedOnes = inbound.filter(({ sender }) => mayWrite(sender));
      return allowedOnes.length === 0 ? {} : { inbound: allowedOnes };
    },
    sample: (message) => sampleOf(config, message),
  };
}

// Who we are there: the lines that the token answers for.

/** One line for a person. Throws as `Channel.check`. */
async function accountLine(api: Api, tenantId: string | undefined, signal: AbortSignal): Promise<string> {
  // A token may be allowed to send and not to list: then it is known all the same.
  const answer = await api("/channels?page_number=1&page_size=100", { answers: [403], signal }).catch(asCheckFailure);
  if (answer.status === 403) return "The platform takes the token; it may not list the account's lines.";
  const { success, output } = v.safeParse(LINES, answer.json);
  if (!success) return "The platform takes the token; its list of lines can't be read.";
  const lines = output.channels.map(({ name, channel }) => [name, channel].filter(Boolean).join(" "));
  const isKnown = output.channels.some(({ name, channel }) => tenantId === name || tenantId === channel);
  if (tenantId !== undefined && !isKnown) return `tenant_id does not match a line of the account: ${lines.join(", ")}`;
  return `${lines.length === 1 ? "Line" : "Lines"}: ${lines.join(", ")}`;
}

const NAME = v.fallback(v.optional(v.string()), undefined);
const LINES = v.object({ channels: v.array(v.object({ name: NAME, channel: NAME })) });

/** Who may post, and who may ask: the platform signs nothing, so the callback URL carries a token. */
function verifier({
  callback_token: token,
  verify_token: verifyToken,
}: Pick<Config, "callback_token" | "verify_token">): Ingress["verify"] {
  return ({ method, query }) => {
    if (method === "GET") {
      if (verifyToken === undefined || equalSecrets(query.get("hub.verify_token") ?? undefined, verifyToken))
        return PASS;
      return { ok: false, code: "BAD_VERIFY_TOKEN", why: "hub.verify_token is not the verify_token" };
    }
    if (token === undefined || equalSecrets(query.get("token") ?? undefined, token)) return PASS;
    return { ok: false, code: "UNAUTHORIZED", why: query.has("token") ? "the token is wrong" : "there is no token" };
  };
}

const PASS = { ok: true } as const;

/** A delivery as the platform makes it, for `svc webhook send` and tests: https://docs.wati.io/reference/message-received */
function sampleOf(config: Config, { text, from, id, atMs }: SampleMessage): SampleDelivery {
  const sender = from ?? config.allowed_numbers.find((entry) => entry !== "*") ?? EXAMPLE_NUMBER;
  const payload = {
    id,
    created: new Date(atMs).toISOString(),
    whatsappMessageId: `wamid.${Buffer.from(id).toString("base64")}`,
    conversationId: "svc-webhook-send",
    ticketId: "svc-webhook-send",
    text,
    type: "text",
    data: null,
    sourceId: null,
    sourceUrl: null,
    timestamp: String(Math.floor(atMs / 1000)),
    owner: false,
    eventType: "message",
    statusString: "SENT",
    avatarUrl: null,
    assignedId: null,
    operatorName: null,
    operatorEmail: null,
    waId: phoneOf(sender)?.slice(1) ?? sender,
    messageContact: null,
    senderName: "svc webhook send",
    listReply: null,
    interactiveButtonReply: null,
    buttonReply: null,
    replyContextId: "",
    sourceType: 0,
    frequentlyForwarded: false,
    forwarded: false,
    channelId: null,
    channelPhoneNumber: config.tenant_id ?? null,
  };
  const { callback_token: token } = config;
  return {
    method: "POST",
    query: token === undefined ? "" : `?${new URLSearchParams({ token }).toString()}`,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(payload)),
  };
}

/** A number of the range for examples (555-0100 to 555-0199). */
const EXAMPLE_NUMBER = "+15555550100";

/** A message as the platform takes it: the text, then its files. */
interface SendDeps {
  readonly api: Api;
  readonly sentParts: SentPartsOf;
  readonly tenantId: string | undefined;
}

/** The receipt belongs to the first request, whose part is shown first. */
async function sendMessage(
  { api, sentParts, tenantId }: SendDeps,
  { conversation, text, files = [], deliveryId }: OutgoingMessage,
  signal: AbortSignal,
): Promise<Receipt> {
  signal.throwIfAborted();
  const target = targetOf(tenantId, conversation.id);
  const parts: [part: string, send: () => Promise<PlatformAnswer>][] = files.map((file, place) => [
    `file ${place}`,
    () => sendFile(api, target, file, signal),
  ]);
  if (text.trim() !== "") {
    parts.unshift(["text", () => api("/conversations/messages/text", { ...json({ target, text }), signal })]);
  }
  const sent = await sentParts(deliveryId);
  const rest = parts.filter(([part]) => !sent.has(part));
  let { platformId } = sent;
  for (const [place, [part, send]] of rest.entries()) {
    const id = idOf(await send());
    platformId ??= id;
    // The last one is the end of the delivery, which is kept anyway.
    if (place < rest.length - 1) await sent.add(part, id);
  }
  sent.end();
  // A number may be written in many ways; who answers has one.
  const id = recipientOf(tenantId, conversation.id);
  const opened = id !== undefined && id !== conversation.id && { opened: { ...conversation, id } };
  return { ...(platformId !== undefined && { platformId }), ...opened };
}

/** https://docs.wati.io/reference/conversations_sendfile */
async function sendFile(api: Api, target: string, file: OutgoingFile, signal: AbortSignal) {
  const { name, mimeType } = file;
  const bytes = await file.read();
  const { body, contentType } = await multipart({ target }, [{ field: "file", name, mimeType, bytes }]);
  const headers = { "content-type": contentType };
  return api("/conversations/messages/file", { method: "POST", headers, body, timeoutMs: UPLOAD_MS, signal });
}

/** One attempt to send may take a minute in all. */
const UPLOAD_MS = 50_000;

/** An acceptance without an id is one all the same. */
function idOf({ json: answer }: PlatformAnswer): string | undefined {
  const { success, output } = v.safeParse(TAKEN, answer);
  return success ? output.message.id : undefined;
}

const TAKEN = v.object({ message: v.object({ id: v.pipe(v.string(), v.nonEmpty()) }) });

// One request to the platform's API.

/** Throws as `platformCall` does. `path` comes behind `/api/ext/v3`. */
type Api = (
  path: string,
  request: Pick<PlatformCall, "method" | "json" | "body" | "headers" | "answers" | "timeoutMs" | "signal">,
) => Promise<PlatformAnswer>;

const authorization = ({ api_token: token }: Pick<Config, "api_token">): Record<string, string> => ({
  // Its page shows the token with the word in front; people copy both.
  authorization: `Bearer ${token.replace(/^Bearer\s+/i, "")}`,
});

function apiOf({ config, fetch, clock }: FeatureContext<Config>): Api {
  return async (path, { headers = {}, ...request }) => {
    const answer = await platformCall(fetch, {
      url: `${config.api_url}/api/ext/v3${path}`,
      ...request,
      headers: { ...headers, ...authorization(config) },
      nowMs: clock.now(),
    });
    // Some refusals come with status 200: a conversation that is closed, an account without credit.
    if (v.is(REFUSED, answer.json)) throw new SvcError("DELIVERY_REFUSED", "The platform says that it did not do it.");
    return answer;
  };
}

const json = (value: Json): { readonly method: "POST"; readonly json: Json } => ({
  method: "POST",
  json: value,
});

const REFUSED = v.union([
  v.object({ result: v.literal(false) }),
  v.object({ ok: v.literal(false) }),
  v.object({ success: v.literal(false) }),
]);
