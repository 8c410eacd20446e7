/** Signatures of platforms: HMAC-SHA-256 over the bytes that came, as hex. */
import { createHmac, timingSafeEqual } from "node:crypto";
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
  const hmac = createHmac("sha256", secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}
