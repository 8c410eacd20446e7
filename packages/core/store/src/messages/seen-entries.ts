/** Digests and how long they are remembered, as bytes: 16 of the digest, then the milliseconds since the epoch as a double. */

/** A string whose 16 characters are the digest's bytes, and when it is forgotten. */
export type SeenEntry = readonly [digest: string, expiresAtMs: number];

const DIGEST_BYTES = 16;
export const ENTRY_BYTES = DIGEST_BYTES + 8;

export function pack(entries: readonly SeenEntry[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(entries.length * ENTRY_BYTES);
  for (const [index, [digest, expiresAtMs]] of entries.entries()) {
    bytes.write(digest, index * ENTRY_BYTES, "latin1");
    bytes.writeDoubleLE(expiresAtMs, index * ENTRY_BYTES + DIGEST_BYTES);
  }
  return bytes;
}

export function* unpack(packed: Uint8Array): Generator<SeenEntry> {
  const bytes = asBuffer(packed);
  for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
    yield [bytes.toString("latin1", at, at + DIGEST_BYTES), bytes.readDoubleLE(at + DIGEST_BYTES)];
  }
}

export function expiryIn(packed: Uint8Array, digest: string): number | undefined {
  const bytes = asBuffer(packed);
  for (let at = bytes.indexOf(digest, 0, "latin1"); at >= 0; at = bytes.indexOf(digest, at + 1, "latin1")) {
    if (at % ENTRY_BYTES === 0) return bytes.readDoubleLE(at + DIGEST_BYTES);
  }
  return undefined;
}

const asBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);

/** When all of them are forgotten. */
export const lastExpiry = (entries: readonly SeenEntry[]): number =>
  entries.reduce((last, [, expiresAtMs]) => Math.max(last, expiresAtMs), 0);
