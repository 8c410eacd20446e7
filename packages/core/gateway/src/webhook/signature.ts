/**
 * Standard Webhooks signatures (https://github.com/standard-webhooks/standard-webhooks): `webhook-signature` holds
 * space-separated `v1,<base64>` entries, HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`. The key is the
 * base64 after `whsec_`, or without that prefix the bytes of the text itself.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { SvcError } from "@svc/contract";
import type { SeenIds } from "./seen-ids.ts";

const TOLERANCE_SECS = 300;
/** An id must be remembered as long as its timestamp could still be fresh: 300 s ahead until 300 s behind. */
export const REMEMBER_MS = 2 * TOLERANCE_SECS * 1000;

export class SignatureCheck {
  readonly #key: Buffer;
  readonly #seen: SeenIds;

  /** Throws CONFIG_INVALID. */
  constructor(secret: string, seen: SeenIds) {
    this.#key = keyOf(secret.trim());
    this.#seen = seen;
  }

  /**
   * The webhook-id when everything is valid, fresh and seen for the first time; it is remembered from now on. Undefined
   * otherwise, whatever is wrong.
   */
  take(headers: IncomingHttpHeaders, body: Buffer, nowMs: number): string | undefined {
    const id = headers["webhook-id"];
    const timestamp = headers["webhook-timestamp"];
    const signatures = headers["webhook-signature"];
    if (typeof id !== "string" || typeof timestamp !== "string" || typeof signatures !== "string") return undefined;
    if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) return undefined;
    if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECS) return undefined;
    const expected = createHmac("sha256", this.#key).update(`${id}.${timestamp}.`).update(body).digest("base64");
    if (!holds(signatures, Buffer.from(`v1,${expected}`, "latin1"))) return undefined;
    return this.#seen.add(id, nowMs) ? id : undefined;
  }

  /** Forgets an id whose request was not answered 200, so that the sender's retry is heard. */
  forget(id: string): void {
    this.#seen.delete(id);
  }
}

function holds(signatures: string, expected: Buffer): boolean {
  let found = false;
  for (const entry of signatures.split(" ")) {
    const presented = Buffer.from(entry, "latin1");
    if (presented.length === expected.length && timingSafeEqual(presented, expected)) found = true;
  }
  return found;
}

function keyOf(secret: string): Buffer {
  if (!secret.startsWith("whsec_")) return Buffer.from(secret, "utf8");
  const encoded = secret.slice("whsec_".length);
  const key = Buffer.from(encoded, "base64");
  // Buffer.from skips what it does not understand: a mistyped secret would become a shorter, other key.
  if (key.length === 0 || key.toString("base64").replace(/=+$/, "") !== encoded.replace(/=+$/, "")) {
    throw new SvcError(
      "CONFIG_INVALID",
      "channels_config.webhook.signing_secret: what follows the prefix must be base64.",
    );
  }
  return key;
}
