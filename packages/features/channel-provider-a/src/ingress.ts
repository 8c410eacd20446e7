/**
 * The way in: the hub handshake by GET, deliveries by POST, signed over the raw bytes.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint
 */
import {
  DEDUPE_MS,
  type Ingress,
  type Json,
  type Logger,
  type RawRequest,
  type SampleDelivery,
  type SampleMessage,
  type Verdict,
} from "@svc/contract";
import { equalSecrets, hmacSha256Hex, hubChallenge, readJson, senderGate, verifyHmacSha256 } from "@svc/kit";
import type { CloudConfig } from "./config.ts";
import { deliveryReader } from "./delivery.ts";
import { CHANNEL, isUserId, phoneOf, PRODUCT, userIdOf } from "./protocol.ts";

const SIGNATURE_HEADER = "x-hub-signature-256";

export function ingressOf(config: CloudConfig, log: Logger): Ingress {
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
  const { contact, sender } = senderOf(from ?? allowedNumbers.find((entry) => entry.trim() !== "*") ?? ANYBODY);
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
const ANYBODY = "+15550001111";

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
