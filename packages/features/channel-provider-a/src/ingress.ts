/**
 * The way in: the hub handshake by GET, deliveries by POST, signed over the raw bytes.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint
 */
import { DEDUPE_MS, type Ingress, type Logger, type RawRequest, type Verdict } from "@svc/contract";
import { equalSecrets, hubChallenge, readJson, verifyHmacSha256 } from "@svc/kit";
import type { CloudConfig } from "./config.ts";
import { deliveryReader } from "./delivery.ts";
import { sampleDelivery } from "./sample.ts";
import { allowedSenders } from "./senders.ts";

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

/** Without a secret it can't be checked, which `signed` tells everybody. */
function signature({ headers, body }: RawRequest, secret: string | undefined): Verdict {
  if (secret === undefined) return { ok: true };
  const header = headers[SIGNATURE_HEADER];
  if (verifyHmacSha256({ secret, parts: [body], header, prefix: "required" })) return { ok: true };
  const why = header === undefined ? "X-Hub-Signature-256 is missing" : "X-Hub-Signature-256 does not fit the body";
  return { ok: false, code: "BAD_SIGNATURE", why };
}
