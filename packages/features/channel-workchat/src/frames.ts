/**
 * Frames of the long connection: protobuf messages `Frame` and `Header` of package `pbbp2`, as the platform's own clients speak
 * them (https://github.com/larksuite/oapi-sdk-go, ws/pbbp2.proto):
 *
 *     message Header { required string key = 1; required string value = 2; }
 *     message Frame {
 *       required uint64 SeqID = 1;   required uint64 LogID = 2;  required int32 service = 3;  required int32 method = 4;
 *       repeated Header headers = 5; optional string payload_encoding = 6; optional string payload_type = 7;
 *       optional bytes payload = 8;  optional string LogIDNew = 9;
 *     }
 */

export interface Frame {
  readonly seqId: bigint;
  readonly logId: bigint;
  readonly service: number;
  /** 0: control (ping, pong). 1: data. */
  readonly method: number;
  readonly headers: readonly (readonly [key: string, value: string])[];
  readonly payloadEncoding?: string;
  readonly payloadType?: string;
  readonly payload: Uint8Array;
  readonly logIdNew?: string;
}

export const CONTROL = 0;
export const DATA = 1;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** More headers than any frame of the platform has. */
const MOST_HEADERS = 64;

/** Undefined for bytes that are no frame. */
export function readFrame(bytes: Uint8Array): Frame | undefined {
  const reader = new Reader(bytes);
  const frame: Writable<Frame> = {
    seqId: 0n,
    logId: 0n,
    service: 0,
    method: -1,
    headers: [],
    payload: new Uint8Array(),
  };
  const headers: [string, string][] = [];
  while (reader.isOpen) {
    const [field, type] = reader.tag();
    if (field >= 1 && field <= 4 && type === VARINT) {
      const value = reader.varint();
      if (field === 1) frame.seqId = value;
      else if (field === 2) frame.logId = value;
      else if (field === 3) frame.service = Number(BigInt.asIntN(32, value));
      else frame.method = Number(BigInt.asIntN(32, value));
    } else if (field >= 5 && field <= 9 && type === BYTES) {
      const value = reader.bytes();
      if (field === 5) headers.push(headerOf(value));
      else if (field === 6) frame.payloadEncoding = textOf(value);
      else if (field === 7) frame.payloadType = textOf(value);
      else if (field === 8) frame.payload = value;
      else frame.logIdNew = textOf(value);
    } else reader.skip(type);
  }
  if (reader.isBroken || headers.length > MOST_HEADERS || (frame.method !== CONTROL && frame.method !== DATA))
    return undefined;
  return { ...frame, headers };
}

function headerOf(bytes: Uint8Array): [string, string] {
  const reader = new Reader(bytes);
  const header: [string, string] = ["", ""];
  while (reader.isOpen) {
    const [field, type] = reader.tag();
    if ((field === 1 || field === 2) && type === BYTES) header[field - 1] = textOf(reader.bytes());
    else reader.skip(type);
  }
  return header;
}

export function writeFrame(frame: Frame): Uint8Array {
  const parts: Uint8Array[] = [
    ...number(1, frame.seqId),
    ...number(2, frame.logId),
    ...number(3, BigInt.asUintN(64, BigInt(frame.service))),
    ...number(4, BigInt.asUintN(64, BigInt(frame.method))),
    ...frame.headers.flatMap(([key, value]) => block(5, Buffer.concat([...text(1, key), ...text(2, value)]))),
    ...(frame.payloadEncoding === undefined ? [] : text(6, frame.payloadEncoding)),
    ...(frame.payloadType === undefined ? [] : text(7, frame.payloadType)),
    ...(frame.payload.length === 0 ? [] : block(8, frame.payload)),
    ...(frame.logIdNew === undefined ? [] : text(9, frame.logIdNew)),
  ];
  return Buffer.concat(parts);
}

export const headerIn = ({ headers }: Pick<Frame, "headers">, name: string): string | undefined =>
  headers.find(([key]) => key === name)?.[1];

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");

/** Reads as far as it can; what goes past the end, or is of an unknown wire type, breaks it and ends the reading. */
class Reader {
  isBroken = false;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isOpen(): boolean {
    return !this.isBroken && this.#at < this.#bytes.length;
  }

  tag(): [field: number, type: number] {
    const tag = Number(this.varint() & 0xffff_ffffn);
    return [tag >>> 3, tag & 7];
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) break;
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    this.isBroken = true;
    return 0n;
  }

  bytes(): Uint8Array {
    const length = this.varint();
    if (this.isBroken || length > BigInt(this.#bytes.length - this.#at)) {
      this.isBroken = true;
      return new Uint8Array();
    }
    const start = this.#at;
    this.#at += Number(length);
    return this.#bytes.subarray(start, this.#at);
  }

  skip(type: number): void {
    if (type === VARINT) this.varint();
    else if (type === BYTES) this.bytes();
    else if (type === FIXED64) this.#at += 8;
    else if (type === FIXED32) this.#at += 4;
    else this.isBroken = true;
    if (this.#at > this.#bytes.length) this.isBroken = true;
  }
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

const number = (field: number, value: bigint): Uint8Array[] => [varint(BigInt(field << 3)), varint(value)];
const block = (field: number, bytes: Uint8Array): Uint8Array[] => [
  varint(BigInt((field << 3) | BYTES)),
  varint(BigInt(bytes.length)),
  bytes,
];
const text = (field: number, value: string): Uint8Array[] => block(field, Buffer.from(value));
