/** Keys and values of IndexedDB as bytes. */
import { Deserializer, Serializer } from "node:v8";

/** A record as it is stored: its key and its value, by the structured clone algorithm. Throws a DataCloneError DOMException. */
export function toBytes(key: unknown, value: unknown): Buffer {
  assertStorable(value, new Set());
  // Not `v8.serialize`: that copies the view of a typed array and loses the buffer behind it.
  const serializer = new Serializer();
  serializer.writeHeader();
  serializer.writeValue([key, value]);
  return serializer.releaseBuffer();
}

/** Throws when the bytes are not those of `toBytes`. */
export function fromBytes(bytes: Uint8Array): readonly [key: unknown, value: unknown] {
  const deserializer = new Deserializer(bytes);
  deserializer.readHeader();
  const record: unknown = deserializer.readValue();
  if (!Array.isArray(record) || record.length !== 2) throw new TypeError("not a stored record");
  return record as unknown as [unknown, unknown];
}

/** What `Serializer` reproduces. It would write any other platform object (a Blob, a CryptoKey) as `{}`, without an error. */
const STORABLE: ReadonlySet<string> = new Set(
  [
    ["Object", "Array", "Map", "Set", "Date", "RegExp", "Error", "Boolean", "Number", "String", "BigInt"],
    ["ArrayBuffer", "DataView", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array"],
    ["Int32Array", "Uint32Array", "BigInt64Array", "BigUint64Array", "Float16Array", "Float32Array", "Float64Array"],
  ].flatMap((names) => names.map((name) => `[object ${name}]`)),
);

function assertStorable(value: unknown, seen: Set<object>): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  const kind = Object.prototype.toString.call(value);
  if (!STORABLE.has(kind)) throw new DOMException(`${kind} could not be stored.`, "DataCloneError");
  seen.add(value);
  if (ArrayBuffer.isView(value)) return;
  if (value instanceof Map) {
    for (const [name, entry] of value) {
      assertStorable(name, seen);
      assertStorable(entry, seen);
    }
  } else if (value instanceof Set) {
    for (const entry of value) assertStorable(entry, seen);
  }
  for (const entry of Object.values(value)) assertStorable(entry, seen);
}

const NUMBER = 1;
const DATE = 2;
const STRING = 3;
const BINARY = 4;
const ARRAY = 5;

/**
 * A valid key as bytes: equal keys, and only those, have equal bytes. https://w3c.github.io/IndexedDB/#compare-two-keys
 * Throws TypeError for what is not a key.
 */
export function keyBytes(key: unknown): Buffer {
  if (typeof key === "number") return tagged(NUMBER, doubleBytes(key));
  if (typeof key === "string") return tagged(STRING, Buffer.from(key, "utf16le"));
  if (Object.prototype.toString.call(key) === "[object Date]") return tagged(DATE, doubleBytes(Number(key)));
  if (key instanceof ArrayBuffer) return tagged(BINARY, Buffer.from(key));
  if (Array.isArray(key)) return tagged(ARRAY, Buffer.concat(key.map(keyBytes)));
  throw new TypeError("not a key");
}

/** With its length, so that the parts of an array can't be read as those of another one. */
function tagged(type: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(type);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

function doubleBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  // -0 and 0 are one key.
  bytes.writeDoubleBE(value === 0 ? 0 : value);
  return bytes;
}
