/**
 * The bytes of a broker, before the library reads them: it would collect a packet of 256 MB in memory. A message whose payload is too
 * large loses the payload on the way and keeps topic and number, so that it can be acknowledged and is not sent again for ever.
 */
import { Transform, type TransformCallback } from "node:stream";
import { SvcError } from "@svc/contract";

/** As much as a request to a procedure's path may have. */
export const MAX_PAYLOAD_BYTES = 1_048_576;
/** Every other packet is short. */
const MAX_OTHER_BYTES = 65_536;
const PUBLISH = 3;

export class PacketGuard extends Transform {
  /** Payload sizes that were too large, by the number of the PUBLISH packet, from 1. */
  readonly oversized = new Map<number, number>();
  #publishes = 0;
  /** Bytes of a packet whose beginning is not whole yet: at most 5 of the header, or those up to the payload. */
  #held = Buffer.alloc(0);
  /** Bytes of the current packet that go on as they are. */
  #pass = 0;
  #drop = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      this.#take(chunk);
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#pass > 0) {
        this.push(rest.subarray(0, this.#pass));
        const taken = Math.min(this.#pass, rest.length);
        this.#pass -= taken;
        rest = rest.subarray(taken);
      } else if (this.#drop > 0) {
        const dropped = Math.min(this.#drop, rest.length);
        this.#drop -= dropped;
        rest = rest.subarray(dropped);
      } else {
        rest = this.#begin(this.#held.length === 0 ? rest : Buffer.concat([this.#held, rest]));
      }
    }
  }

  /** At the beginning of a packet. Returns the bytes to read next; keeps bytes that can't be checked yet. */
  #begin(bytes: Buffer): Buffer {
    this.#held = Buffer.alloc(0);
    const header = headerOf(bytes);
    if (!header) return this.#hold(bytes);
    const { first, size, length } = header;
    const isPublish = first >> 4 === PUBLISH;
    if (isPublish && ((first >> 1) & 3) > 1) throw broken("a message with a QoS that was not subscribed to");
    if (!isPublish && length > MAX_OTHER_BYTES) throw broken("a packet that is too long");
    if (isPublish && length > MAX_PAYLOAD_BYTES) return this.#cut(bytes, first, size, length);
    if (isPublish) this.#publishes += 1;
    this.#pass = size + length;
    return bytes;
  }

  #cut(bytes: Buffer, first: number, size: number, length: number): Buffer {
    if (bytes.length < size + 2) return this.#hold(bytes);
    const numberBytes = ((first >> 1) & 3) === 0 ? 0 : 2;
    const kept = 2 + bytes.readUInt16BE(size) + numberBytes;
    if (bytes.length < size + kept) return this.#hold(bytes);
    this.#publishes += 1;
    if (length - kept > MAX_PAYLOAD_BYTES) this.oversized.set(this.#publishes, length - kept);
    else {
      this.#pass = size + length;
      return bytes;
    }
    this.push(Buffer.concat([Buffer.of(first), lengthBytes(kept), bytes.subarray(size, size + kept)]));
    this.#drop = length - kept;
    return bytes.subarray(size + kept);
  }

  #hold(bytes: Buffer): Buffer {
    // A copy: the chunk that it is a part of may be large.
    this.#held = Buffer.from(bytes);
    return bytes.subarray(bytes.length);
  }
}

/** Type and flags, and how many bytes follow. Undefined: more bytes are needed. */
function headerOf(bytes: Buffer): { first: number; size: number; length: number } | undefined {
  let length = 0;
  for (let at = 1; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    length += (byte & 127) * 128 ** (at - 1);
    if (byte < 128) return { first: bytes[0]!, size: at + 1, length };
    if (at === 4) throw broken("a packet without a length");
  }
  return undefined;
}

function lengthBytes(length: number): Buffer {
  const bytes: number[] = [];
  let rest = length;
  do {
    const byte = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? byte | 128 : byte);
  } while (rest > 0);
  return Buffer.from(bytes);
}

const broken = (what: string): SvcError => new SvcError("REMOTE_UNREACHABLE", `The broker sent ${what}.`);
