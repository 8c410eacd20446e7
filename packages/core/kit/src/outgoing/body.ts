import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { SvcError } from "@svc/contract";

export interface CappedBody {
  readonly truncated: boolean;
  /** The content coding was undone. */
  readonly decoded: boolean;
}

/**
 * Hands over `maxBytes`, counted after decompression, and then hangs up: neither an endless body nor a compression bomb
 * takes more memory than the cap, nor more time than it takes to fill it. The next piece is read when `write` is done
 * with the one before.
 */
export async function readCapped(
  body: Readable,
  coding: string | undefined,
  maxBytes: number,
  write: (chunk: Uint8Array) => Promise<void> | void,
): Promise<CappedBody> {
  // Hanging up makes the stream fail; without a listener that failure would end the process.
  body.on("error", () => undefined);
  const decoder = decoderFor(coding);
  let total = 0;
  try {
    for await (const chunk of decoder ? decodedChunks(body, decoder, maxBytes + CODING_OVERHEAD_BYTES) : body) {
      const bytes = chunk as Uint8Array;
      if (total < maxBytes) await write(bytes.subarray(0, maxBytes - total));
      total += bytes.byteLength;
      if (total > maxBytes) break;
    }
  } finally {
    decoder?.destroy();
    body.destroy();
  }
  return { truncated: total > maxBytes, decoded: decoder !== undefined };
}

/** Headers and empty blocks of a compressed stream decode to nothing and could go on for ever. */
const CODING_OVERHEAD_BYTES = 65_536;

function decoderFor(coding: string | undefined): Transform | undefined {
  switch (coding?.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined; // identity, or a coding that was not requested: pass the bytes and the header through
  }
}

async function* decodedChunks(body: Readable, decoder: Transform, maxRawBytes: number): AsyncIterable<Uint8Array> {
  let raw = 0;
  body.on("data", (chunk: Uint8Array) => {
    raw += chunk.byteLength;
    if (raw > maxRawBytes) decoder.destroy(undecodable());
  });
  // A connection that breaks half-way: the decoder must not wait for the rest.
  body.on("error", (error) => decoder.destroy(error));
  body.pipe(decoder);
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw isZlibError(error) ? undecodable(error) : error;
  }
}

const isZlibError = (error: unknown): boolean => String((error as { code?: unknown } | null)?.code).startsWith("Z_");

const undecodable = (cause?: unknown): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "The remote server sent a compressed body that can't be decoded.", { cause });
