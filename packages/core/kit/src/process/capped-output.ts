import type { Readable } from "node:stream";

export interface CappedOutput {
  readonly truncated: boolean;
  bytes(): Uint8Array;
  /** What was kept, as text: a character that the cap cut in two is left out. */
  text(): string;
}

/**
 * Keeps the first `maxBytes` of a stream and drops the rest while it flows, so that a program with much to say can finish.
 * One that never stops (`yes`) would keep a processor busy until its timeout: `flooded` is called once the output is far
 * longer than any reader needs.
 */
export function cappedOutput(stream: Readable | null, maxBytes: number, flooded: () => void): CappedOutput {
  const chunks: Buffer[] = [];
  let kept = 0;
  let seen = 0;
  stream?.on("error", () => undefined);
  stream?.on("data", (chunk: Buffer) => {
    if (seen <= FLOOD_BYTES && seen + chunk.byteLength > FLOOD_BYTES) flooded();
    seen += chunk.byteLength;
    if (kept >= maxBytes) return;
    // Copied: a slice would keep the whole chunk in memory.
    const part = Buffer.from(chunk.subarray(0, maxBytes - kept));
    chunks.push(part);
    kept += part.byteLength;
  });
  return {
    get truncated() {
      return seen > maxBytes;
    },
    bytes: () => Buffer.concat(chunks),
    text() {
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      return decoder.decode(Buffer.concat(chunks), { stream: seen > maxBytes });
    },
  };
}

const FLOOD_BYTES = 268_435_456;
