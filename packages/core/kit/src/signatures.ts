/** How a delivery proves whose it is: signatures, shared secrets, the handshake of a callback URL. */
import { type Hmac, createHmac, hash, timingSafeEqual } from "node:crypto";
import { type IngressReply, type RawRequest, SvcError, isWebhookKey } from "@svc/contract";

/** A signature of HMAC-SHA-256 over the bytes that came, as hex. */
export interface SignedDelivery {
  readonly secret: string;
  /** The signed parts, in order: `[timestamp, ".", body]`. */
  readonly parts: readonly (string | Uint8Array)[];
  /** The signature as it came. */
  readonly header: string | undefined;
  /** Whether it must begin with `sha256=`, in exactly this spelling, or may begin with it in any case. */
  readonly prefix: "required" | "optional";
}

/** Also false for a blank secret: with it anyone could sign. */
export function verifyHmacSha256({ secret, parts, header, prefix }: SignedDelivery): boolean {
  if (secret.trim() === "" || header === undefined) return false;
  const hex = SIGNATURE.exec(header);
  if (hex === null || (prefix === "required" && hex[1] !== "sha256=")) return false;
  // The digest comes as text and becomes a buffer here: asked for a buffer, node:crypto takes a quarter longer.
  const wanted = signedBy(secret, parts).digest("latin1");
  return timingSafeEqual(Buffer.from(hex[2] as string, "hex"), Buffer.from(wanted, "latin1"));
}

/** Exactly 32 bytes: Buffer.from would silently drop an extra digit and invalid characters. */
const SIGNATURE = /^(sha256=)?([0-9a-f]{64})$/i;

/** Throws INTERNAL for a blank secret. */
export function hmacSha256Hex(secret: string, parts: readonly (string | Uint8Array)[]): string {
  if (secret.trim() === "") throw new SvcError("INTERNAL", "Nothing is signed with a blank secret.");
  return signedBy(secret, parts).digest("hex");
}

function signedBy(secret: string | Buffer, parts: readonly (string | Uint8Array)[]): Hmac {
  const hmac = createHmac("sha256", secret);
  for (const part of parts) hmac.update(part);
  return hmac;
}

/**
 * Standard Webhooks signatures (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md):
 * `webhook-signature` holds space-separated `v1,<base64>` entries, HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`. The key is
 * the base64 after `whsec_`, or without that prefix the bytes of the text itself.
 */
export interface WebhookContent {
  /** `webhook-id`. */
  readonly id: string;
  /** `webhook-timestamp`: unix seconds, in digits. */
  readonly timestamp: string;
  /** Exactly the bytes that go over the wire. */
  readonly body: string | Uint8Array;
}

/** How far a timestamp may be off, either way. */
export const WEBHOOK_TOLERANCE_SECS = 300;

/** Throws CONFIG_INVALID for an invalid key, above all a blank one: with it anyone could sign. */
export function webhookKeyOf(secret: string): Buffer {
  const text = secret.trim();
  if (text === "" || !isWebhookKey(text)) {
    throw new SvcError("CONFIG_INVALID", "The key of webhook signatures must be text, or base64 behind its prefix.");
  }
  return text.startsWith(PREFIX) ? Buffer.from(text.slice(PREFIX.length), "base64") : Buffer.from(text, "utf8");
}

const PREFIX = "whsec_";

/** One entry of `webhook-signature`. */
export function signWebhook(key: Buffer, { id, timestamp, body }: WebhookContent): string {
  return `v1,${signedBy(key, [`${id}.${timestamp}.`, body]).digest("base64")}`;
}

/** Whether one of the entries is the key's; in a time that tells nothing of it. How fresh it is, is the caller's to judge. */
export function verifyWebhook(key: Buffer, content: WebhookContent, signatures: string): boolean {
  const expected = Buffer.from(signWebhook(key, content), "latin1");
  let found = false;
  for (const entry of signatures.split(" ")) {
    const presented = Buffer.from(entry, "latin1");
    if (presented.length === expected.length && timingSafeEqual(presented, expected)) found = true;
  }
  return found;
}

/**
 * Answers a platform's check of a callback URL (WebSub): echoes `hub.challenge` unchanged. `verify` decides who may ask.
 * Throws BAD_REQUEST without a challenge.
 */
export function hubChallenge({ query }: Pick<RawRequest, "query">): IngressReply {
  const body = query.get("hub.challenge") ?? "";
  if (body === "") throw new SvcError("BAD_REQUEST", "The handshake has no hub.challenge.");
  // As plain text: a browser that reads the echo as HTML would run a script from a crafted link.
  return { status: 200, contentType: "text/plain; charset=utf-8", body };
}

/**
 * Whether a token that came is the configured one, in a time that tells nothing of either, their lengths included. Blank
 * is never equal: an unset secret must not let in who sends none.
 */
export function equalSecrets(given: string | undefined, secret: string | undefined): boolean {
  if (given === undefined || secret === undefined || given.trim() === "" || secret.trim() === "") return false;
  return timingSafeEqual(digestOf(given), digestOf(secret));
}

const digestOf = (text: string): Buffer => Buffer.from(hash("sha256", text, "latin1"), "latin1");
