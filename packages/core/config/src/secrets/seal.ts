/**
 * Secrets at rest: `enc2:` and hex of nonce (12 bytes), ciphertext, tag (16 bytes); ChaCha20-Poly1305 (RFC 8439).
 * Text without the prefix is plain and passes through, so that a value typed in by hand works.
 */
import type { KeyObject } from "node:crypto";
import { SvcError } from "@svc/contract";
import { nodeCrypto } from "../node-crypto.ts";

const PREFIX = "enc2:";
const CIPHER = "chacha20-poly1305";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const isSealed = (stored: string): boolean => stored.startsWith(PREFIX);

export function sealSecret(key: KeyObject, text: string): string {
  const { createCipheriv, randomBytes } = nodeCrypto();
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  const sealed = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
  return PREFIX + Buffer.concat(sealed).toString("hex");
}

/** Throws SECRET_UNREADABLE for what was tampered with, cut off, or sealed with another key. */
export function openSecret(key: KeyObject, stored: string): string {
  if (!isSealed(stored)) return stored;
  const hex = stored.slice(PREFIX.length);
  // Buffer.from stops at the first character that is no hex digit and says nothing.
  if (!/^(?:[0-9a-f]{2})+$/i.test(hex) || hex.length < 2 * (NONCE_BYTES + TAG_BYTES)) {
    throw new SvcError("SECRET_UNREADABLE", "An encrypted value is cut off or malformed.");
  }
  const bytes = Buffer.from(hex, "hex");
  try {
    const decipher = nodeCrypto().createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
  } catch {
    throw new SvcError("SECRET_UNREADABLE");
  }
}
