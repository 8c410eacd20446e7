/**
 * Whether a delivery is the platform's. It sends two sets of headers with each, and either is proof enough:
 * `X-Webhook-Signature`, hex over `timestamp.body`, and `webhook-signature` of Standard Webhooks, which is to replace it.
 */
import type { RawRequest, Verdict } from "@svc/contract";
import { equalSecrets, hmacSha256Hex, signWebhook, verifyHmacSha256 } from "@svc/kit";

/** A replay within this time is stopped by the message's id. */
const TOLERANCE_MS = 300_000;

export function verifier(secret: string): (request: RawRequest) => Verdict {
  const key = standardKey(secret);
  return (request) => {
    if (isSigned(secret, request)) return { ok: true };
    if (key !== undefined && isSignedByStandard(key, request)) return { ok: true };
    return { ok: false, code: "BAD_SIGNATURE", why: reasonFor(request) };
  };
}

/** For a delivery of our own making. */
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
  return verifyHmacSha256({ secret, parts: [timestamp, ".", body], header, prefix: "optional" });
}

function isSignedByStandard(key: Buffer, { headers, body, receivedAtMs }: RawRequest): boolean {
  const timestamp = headers["webhook-timestamp"] ?? "";
  const id = headers["webhook-id"] ?? "";
  if (id === "" || !isFresh(timestamp, receivedAtMs)) return false;
  const expected = signWebhook(key, { id, timestamp, body });
  // Several, while a secret is being replaced.
  const given = (headers["webhook-signature"] ?? "").split(" ", MAX_SIGNATURES);
  return given.some((entry) => equalSecrets(entry, expected));
}

const MAX_SIGNATURES = 8;

const isFresh = (timestamp: string, nowMs: number): boolean =>
  /^[0-9]{1,12}$/.test(timestamp) && Math.abs(nowMs - Number(timestamp) * 1000) <= TOLERANCE_MS;

/** What Standard Webhooks signs with; undefined for a secret that is not of its form. */
function standardKey(secret: string): Buffer | undefined {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim())?.[1];
  const key = Buffer.from(encoded ?? "", "base64");
  // A key of a few bytes could be guessed from one delivery; the format asks for 24 to 64.
  return key.length < 24 ? undefined : key;
}

function reasonFor({ headers, receivedAtMs }: RawRequest): string {
  const timestamp = headers["x-webhook-timestamp"] ?? headers["webhook-timestamp"];
  if (timestamp === undefined) return "there is no timestamp header";
  return isFresh(timestamp, receivedAtMs)
    ? "no signature fits the secret"
    : "the timestamp is malformed, or more than 300 s off";
}
