/** The `X-Webhook-Secret` check. Of the configured secret nothing but its SHA-256 is in memory. */
import { hash, timingSafeEqual } from "node:crypto";
import { trimOf } from "@svc/contract";
import type { HashedSecret } from "@svc/kernel";

export type SecretCheck = (header: string | string[] | undefined) => boolean;

/** Undefined when no secret is configured. */
export const secretCheck = (configured: HashedSecret | undefined): SecretCheck | undefined =>
  configured && secretCheckOfHash(Buffer.from(configured.sha256, "hex"));

/** The same for a SHA-256 that is known already (32 bytes). */
export function secretCheckOfHash(expected: Buffer): SecretCheck {
  return (header) => {
    if (typeof header !== "string") return false;
    const presented = trimBlanks(header);
    // Node hands header bytes over as latin1; back as bytes they are what the client sent, UTF-8 included.
    return presented !== "" && timingSafeEqual(hash("sha256", Buffer.from(presented, "latin1"), "buffer"), expected);
  };
}

/** Not `trim()`: it would also take a 0xA0 byte off the end of a UTF-8 sequence. */
const trimBlanks = (text: string): string => trimOf(text, " \t");
