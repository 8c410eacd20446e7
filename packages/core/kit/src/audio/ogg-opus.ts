/**
 * Speech as Ogg Opus, which chat platforms play as a voice note, and back. The codec is libopus as WebAssembly: it needs no program and
 * no addon. Containers: RFC 3533 (Ogg), RFC 7845 (Opus in Ogg).
 */
import { SvcError } from "@svc/contract";
import { lengthAt, resampledPart, type Sound } from "./wav.ts";

/** Rates that the codec takes as they are. */
const RATES: ReadonlySet<number> = new Set([8_000, 12_000, 16_000, 24_000, 48_000]);
/** Other rates are resampled to this one, which covers a voice. */
const VOICE_RATE = 24_000;
/** Granule positions always count samples of this rate. */
const GRANULE_RATE = 48_000;
const FRAMES_PER_SECOND = 50;
const BITRATE = 24_000;
const HEAD = "OpusHead";
const TAGS = "OpusTags";

const FIRST_PAGE = 2;
const LAST_PAGE = 4;
const CONTINUED = 1;

export const isOggOpus = (bytes: Uint8Array): boolean =>
  textAt(bytes, 0, 4) === "OggS" && textAt(bytes, 28, HEAD.length) === HEAD;

/** Yields to other work after each second of sound. */
export async function oggOpusOf(sound: Sound, signal: AbortSignal): Promise<Uint8Array> {
  const { Application, createEncoder, Signal } = await import("libopus-wasm");
  const sampleRate = RATES.has(sound.sampleRate) ? sound.sampleRate : VOICE_RATE;
  const frame = sampleRate / FRAMES_PER_SECOND;
  const total = lengthAt(sound, sampleRate);
  using encoder = await createEncoder({
    sampleRate: sampleRate as 24_000,
    channels: 1,
    application: Application.Voip,
    signal: Signal.Voice,
    bitrate: BITRATE,
    frameSize: frame,
  });
  const toGranule = GRANULE_RATE / sampleRate;
  const preSkip = encoder.getLookahead() * toGranule;
  const pages = new PageWriter();
  pages.add([headOf(preSkip, sound.sampleRate)], 0, FIRST_PAGE);
  pages.add([tags()], 0, 0);
  // The last frames carry what the encoder holds back.
  const end = total + encoder.getLookahead();
  for (let from = 0; from < end; from += sampleRate) {
    signal.throwIfAborted();
    const second = new Int16Array(Math.ceil(Math.min(sampleRate, end - from) / frame) * frame);
    second.set(resampledPart(sound, sampleRate, Math.min(from, total), Math.min(from + sampleRate, total)));
    const packets: Uint8Array[] = [];
    for (let at = 0; at < second.length; at += frame) {
      packets.push(encoder.encode(second.subarray(at, at + frame)).slice());
    }
    const isLast = from + sampleRate >= end;
    const granule = isLast ? preSkip + total * toGranule : (from + second.length) * toGranule;
    pages.add(packets, Math.round(granule), isLast ? LAST_PAGE : 0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return pages.bytes();
}

export interface DecodeLimits {
  readonly sampleRate: 8_000 | 12_000 | 16_000 | 24_000 | 48_000;
  readonly maxSecs: number;
}

/** Mono sound. Throws TRANSCRIPTION_FAILED for a recording that is not Ogg Opus, or too long. */
export async function readOggOpus(
  bytes: Uint8Array,
  { sampleRate, maxSecs }: DecodeLimits,
  signal: AbortSignal,
): Promise<Sound> {
  const [head, , ...packets] = packetsOf(bytes);
  if (!head || textAt(head, 0, HEAD.length) !== HEAD || head.byteLength < 19 || (head[9] ?? 0) > 2) throw unreadable();
  const { createDecoder } = await import("libopus-wasm");
  using decoder = await createDecoder({ sampleRate, channels: 1 });
  const parts: Int16Array[] = [];
  let length = 0;
  for (const [index, packet] of packets.entries()) {
    if (index % FRAMES_PER_SECOND === 0) {
      signal.throwIfAborted();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const part = decoded(() => decoder.decode(packet));
    parts.push(part);
    length += part.length;
    if (length > maxSecs * sampleRate) throw new SvcError("TRANSCRIPTION_FAILED", "The recording is too long.");
  }
  const samples = new Int16Array(length);
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  const preSkip = Math.round(((head[10]! | (head[11]! << 8)) * sampleRate) / GRANULE_RATE);
  return { sampleRate, samples: samples.subarray(Math.min(preSkip, length)) };
}

function decoded(decode: () => Int16Array): Int16Array {
  try {
    // The library's memory is its own: the next call writes over it.
    return decode().slice();
  } catch (cause) {
    throw new SvcError("TRANSCRIPTION_FAILED", "The recording is damaged.", { cause });
  }
}

const unreadable = (): SvcError => new SvcError("TRANSCRIPTION_FAILED", "The recording is not Ogg Opus.");

/** The packets of the first stream, without a truncated last one. */
function packetsOf(bytes: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = [];
  let begun: Uint8Array[] = [];
  let serial: number | undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 27 <= bytes.byteLength && textAt(bytes, at, 4) === "OggS";) {
    const sizes = bytes.subarray(at + 27, at + 27 + bytes[at + 26]!);
    const of = view.getUint32(at + 14, true);
    serial ??= of;
    if ((bytes[at + 5]! & CONTINUED) === 0) begun = [];
    at += 27 + bytes[at + 26]!;
    for (const size of sizes) {
      const piece = bytes.subarray(at, at + size);
      at += size;
      if (of !== serial || piece.byteLength < size) continue;
      begun.push(piece);
      if (size === 255) continue;
      packets.push(begun.length === 1 ? piece : joined(begun));
      begun = [];
    }
  }
  return packets;
}

class PageWriter {
  readonly #pages: Uint8Array[] = [];

  /** Packets of at most 255 · 255 bytes together. */
  add(packets: readonly Uint8Array[], granule: number, flags: number): void {
    const sizes = packets.flatMap(({ byteLength }) => [
      ...Array.from({ length: Math.floor(byteLength / 255) }, () => 255),
      byteLength % 255,
    ]);
    const head = new Uint8Array(27 + sizes.length);
    const view = new DataView(head.buffer);
    head.set(new TextEncoder().encode("OggS"));
    head[5] = flags;
    view.setBigInt64(6, BigInt(granule), true);
    view.setUint32(14, SERIAL, true);
    view.setUint32(18, this.#pages.length, true);
    head[26] = sizes.length;
    head.set(sizes, 27);
    const page = joined([head, ...packets]);
    new DataView(page.buffer).setUint32(22, checksum(page), true);
    this.#pages.push(page);
  }

  bytes(): Uint8Array {
    return joined(this.#pages);
  }
}

/** One stream a file: it needs to be told apart from no other. */
const SERIAL = 1;

function headOf(preSkip: number, sampleRate: number): Uint8Array {
  const head = new Uint8Array(19);
  const view = new DataView(head.buffer);
  head.set(new TextEncoder().encode(HEAD));
  head[8] = 1;
  head[9] = 1;
  view.setUint16(10, preSkip, true);
  view.setUint32(12, sampleRate, true);
  return head;
}

function tags(): Uint8Array {
  const vendor = new TextEncoder().encode("svc");
  const bytes = new Uint8Array(TAGS.length + 4 + vendor.byteLength + 4);
  bytes.set(new TextEncoder().encode(TAGS));
  new DataView(bytes.buffer).setUint32(TAGS.length, vendor.byteLength, true);
  bytes.set(vendor, TAGS.length + 4);
  return bytes;
}

/** CRC-32 of a page whose checksum field is zero: the polynomial of RFC 3533, not reflected. */
function checksum(page: Uint8Array): number {
  let sum = 0;
  for (const byte of page) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));
