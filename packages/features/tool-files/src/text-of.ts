export interface DecodedText {
  /** undefined: the bytes are no text. */
  readonly text: string | undefined;
  /** Bytes the text is made of. */
  readonly usedBytes: number;
}

/**
 * Bytes as UTF-8 text. When there is more after them, a character that the cut went through is left for the next read, so
 * that reading on from there loses nothing.
 */
export function textOf(bytes: Uint8Array, moreFollows: boolean): DecodedText {
  if (bytes.includes(0)) return { text: undefined, usedBytes: bytes.byteLength };
  const usedBytes = bytes.byteLength - (moreFollows ? cutBytes(bytes) : 0);
  return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, usedBytes)), usedBytes };
}

/** Length of the unfinished character at the end, 0 when it is whole (or when it would be all there is). */
function cutBytes(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.byteLength - 1); length += 1) {
    const byte = bytes[bytes.byteLength - length] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return length < sequenceLength(byte) ? length : 0;
  }
  return 0;
}

const sequenceLength = (first: number): number => (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2);
