/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
import type { RawRequest, Verdict } from "@svc/contract";
import { hmacSha256Hex, verifyHmacSha256 } from "@svc/kit";

/** A delivery that somebody recorded is worth nothing after this time. */
const TOLERANCE_MS = 300_000;
const VERSION = "v0";

export function verified({ headers, body, receivedAtMs }: RawRequest, secret: string): Verdict {
  const timestamp = headers["x-slack-request-timestamp"] ?? "";
  const isFresh = /^\d{1,12}$/.test(timestamp) && Math.abs(receivedAtMs - Number(timestamp) * 1000) <= TOLERANCE_MS;
  if (!isFresh) return refused("X-Slack-Request-Timestamp is missing, or too far off");
  const [, hex] = /^v0=([0-9a-f]{64})$/.exec(headers["x-slack-signature"] ?? "") ?? [];
  const isRight = verifyHmacSha256({ secret, parts: signedParts(timestamp, body), header: hex, prefix: "optional" });
  return isRight ? { ok: true } : refused("X-Slack-Signature is missing, or does not fit the body");
}

const refused = (why: string): Verdict => ({ ok: false, code: "BAD_SIGNATURE", why });

const signedParts = (timestamp: string, body: Uint8Array): (string | Uint8Array)[] => [
  `${VERSION}:${timestamp}:`,
  body,
];

/** As the platform signs. */
export function signatureHeaders(secret: string, body: Uint8Array, atMs: number): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  return {
    "x-slack-request-timestamp": timestamp,
    "x-slack-signature": `${VERSION}=${hmacSha256Hex(secret, signedParts(timestamp, body))}`,
  };
}
