/**
 * Verifies that a delivery comes from the platform. Each has two signatures, and one valid signature is enough:
 * `X-Webhook-Signature`, HMAC-SHA256 in hex over `timestamp.body`, and `webhook-signature` of Standard Webhooks, its successor.
 */
import type { RawRequest, Verdict } from "@svc/contract";
import { equalSecrets, hmacSha256Hex, signWebhook, verifyHmacSha256 } from "@svc/kit";

/** The age that a delivery may have. The message's id stops replays within it. */
const TOLERANCE_MS = 300_000;

export function verifier(secret: string): (request: RawRequest) => Verdict {
  const key = standardKey(secret);
  return (request) => {
    if (isSigned(secret, request)) return { ok: true };
    if (key !== undefined && isSignedByStandard(key, request)) return { ok: true };
    return { ok: false, code: "BAD_SIGNATURE", why: reasonFor(request) };
  };
}

/** Signs a sample delivery. */
export function signatureHeaders(secret: string, body: Uint8Array, atMs: number): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  return {
    "x-webhook-timestamp": timestamp,
    "x-webhook-signature": hmacSha256Hex(secret, [timestamp, ".", body]),
  };
}

function isSigned(secret: string, { headers, body, receivedAtMs }: RawRequest): boolean {
  const timestamp = headers["x-webhook-timestamp"] ?? "";
  if (!isFresh(timestamp, receivedAtMs)) return false;
  const header = headers["x-webhook-signature"];
  return verifyHmacSha256({ secret, parts: [`${timestamp}.`, body], header, prefix: "optional" });
}

function isSignedByStandard(key: Buffer, { headers, body, receivedAtMs }: RawRequest): boolean {
  const timestamp = headers["webhook-timestamp"] ?? "";
  const id = headers["webhook-id"] ?? "";
  if (id === "" || !isFresh(timestamp, receivedAtMs)) return false;
  const expected = signWebhook(key, { id, timestamp, body });
  // The header has several signatures while a secret is being replaced.
  const given = (headers["webhook-signature"] ?? "").split(" ", MAX_SIGNATURES);
  return given.some((entry) => equalSecrets(entry, expected));
}

const MAX_SIGNATURES = 8;

const isFresh = (timestamp: string, nowMs: number): boolean =>
  /^[0-9]{1,12}$/.test(timestamp) && Math.abs(nowMs - Number(timestamp) * 1000) <= TOLERANCE_MS;

/** The key of Standard Webhooks; undefined for a secret of another form. */
function standardKey(secret: string): Buffer | undefined {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim())?.[1];
  const key = Buffer.from(encoded ?? "", "base64");
  // The format requires 24 to 64 bytes: a shorter key could be guessed from one delivery.
  return key.length < 24 ? undefined : key;
}

function reasonFor({ headers, receivedAtMs }: RawRequest): string {
  const timestamp = headers["x-webhook-timestamp"] ?? headers["webhook-timestamp"];
  if (timestamp === undefined) return "the timestamp header is missing";
  return isFresh(timestamp, receivedAtMs)
    ? "no signature matches the secret"
    : "the timestamp is malformed, or more than 300 s off";
}
