/** Signatures of platforms: HMAC-SHA-256 over the bytes that came, as hex. */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { SvcError } from "@svc/contract";

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
  return timingSafeEqual(Buffer.from(hex[2] as string, "hex"), hmacSha256(secret, parts));
}

/** Exactly 32 bytes: Buffer.from would silently drop an extra digit and invalid characters. */
const SIGNATURE = /^(sha256=)?([0-9a-f]{64})$/i;

/** Throws INTERNAL for a blank secret. */
export function hmacSha256Hex(secret: string, parts: readonly (string | Uint8Array)[]): string {
  if (secret.trim() === "") throw new SvcError("INTERNAL", "Nothing is signed with a blank secret.");
  return hmacSha256(secret, parts).toString("hex");
}

function hmacSha256(secret: string, parts: readonly (string | Uint8Array)[]): Buffer {
  const size = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  if (size <= SHORT_BYTES) return hmacOfShort(secret, parts, size);
  const hmac = createHmac("sha256", secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** What is longer is not copied. */
const SHORT_BYTES = 16_384;
/** Of SHA-256. */
const BLOCK_BYTES = 64;
const HASH_BYTES = 32;

/**
 * RFC 2104 as two one-shot hashes: 2.5 µs for a delivery of 480 bytes, 4.3 with an `Hmac` object. The hashes are texts: a buffer
 * for each costs as much as it does.
 */
function hmacOfShort(secret: string, parts: readonly (string | Uint8Array)[], size: number): Buffer {
  const bytes = Buffer.from(secret);
  const key = bytes.length > BLOCK_BYTES ? hash("sha256", bytes, "buffer") : bytes;
  const inner = Buffer.allocUnsafe(BLOCK_BYTES + size);
  const outer = Buffer.allocUnsafe(BLOCK_BYTES + HASH_BYTES);
  inner.fill(0x36, 0, BLOCK_BYTES);
  outer.fill(0x5c, 0, BLOCK_BYTES);
  for (let at = 0; at < key.length; at += 1) {
    inner[at]! ^= key[at]!;
    outer[at]! ^= key[at]!;
  }
  let at = BLOCK_BYTES;
  for (const part of parts) {
    if (typeof part === "string") inner.write(part, at);
    else inner.set(part, at);
    at += Buffer.byteLength(part);
  }
  outer.write(hash("sha256", inner, "latin1"), BLOCK_BYTES, "latin1");
  return Buffer.from(hash("sha256", outer, "hex"), "hex");
}
