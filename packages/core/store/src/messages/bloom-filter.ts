/** Whether a digest may be among some thousands of others: right about "no", and wrong about "yes" once in 1 500 times. */

/** 16 bits for each of 8 192 digests. */
export const FILTER_BYTES = 16_384;

const MASK = FILTER_BYTES * 8 - 1;
const PROBES = 7;

export function addTo(filter: Uint8Array, digest: string): void {
  const step = word(digest, 4) | 1;
  for (let probe = 0, at = word(digest, 0); probe < PROBES; probe += 1, at = (at + step) | 0) {
    filter[(at & MASK) >> 3]! |= 1 << (at & 7);
  }
}

export function mayHold(filter: Uint8Array, digest: string): boolean {
  const step = word(digest, 4) | 1;
  for (let probe = 0, at = word(digest, 0); probe < PROBES; probe += 1, at = (at + step) | 0) {
    if ((filter[(at & MASK) >> 3]! & (1 << (at & 7))) === 0) return false;
  }
  return true;
}

/** 32 bits of a digest whose characters are its bytes. */
const word = (digest: string, at: number): number =>
  digest.charCodeAt(at) |
  (digest.charCodeAt(at + 1) << 8) |
  (digest.charCodeAt(at + 2) << 16) |
  (digest.charCodeAt(at + 3) << 24);
