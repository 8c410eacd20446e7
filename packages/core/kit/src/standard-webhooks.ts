/**
 * Standard Webhooks signatures (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md):
 * `webhook-signature` holds space-separated `v1,<base64>` entries, HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`.
 * The key is the base64 after `whsec_`, or without that prefix the bytes of the text itself.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { isWebhookKey, SvcError } from "@svc/contract";

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
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  return `v1,${signature}`;
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
