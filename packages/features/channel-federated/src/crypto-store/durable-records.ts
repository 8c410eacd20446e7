/** An object store's records: the library's order in memory, the values on disk, and what changed since the last commit. */
import type { RecordStore, StoredKey } from "./library.ts";
import { Deserializer, Serializer } from "node:v8";

export interface RecordChange {
  readonly store: number;
  /** Of `keyBytes`. */
  readonly key: Buffer;
  /** Of `toBytes`; undefined when the record is gone. */
  readonly bytes: Buffer | undefined;
}

interface Disk {
  /** The value of a record that was committed, by its `keyBytes`. */
  load(store: number, key: Buffer): unknown;
}

/** An object store's records in the library's order, and what changed since the last commit. */
export class DurableRecords implements RecordStore {
  readonly id: number;
  readonly #inner: RecordStore;
  readonly #disk: Disk;
  /** By the bytes of the key. */
  readonly #changed = new Map<string, { readonly key: unknown; readonly bytes: Buffer | undefined }>();

  constructor(inner: RecordStore, id: number, disk: Disk) {
    this.#inner = inner;
    this.id = id;
    this.#disk = disk;
  }

  get(key: unknown): StoredKey | undefined {
    return this.#inner.get(key);
  }

  /** Throws ConstraintError, and DataCloneError for a value that can't be stored. */
  put(record: StoredKey, noOverwrite?: boolean): StoredKey | undefined {
    const { key } = record;
    // A committed record comes back when its change is undone.
    const bytes = record instanceof CommittedRecord ? undefined : toBytes(key, record.value);
    const before = this.#inner.put(record, noOverwrite);
    if (bytes) this.#changed.set(nameOf(key), { key, bytes });
    else this.#changed.delete(nameOf(key));
    return before;
  }

  delete(key: unknown): StoredKey[] {
    return this.#gone(this.#inner.delete(key));
  }

  clear(): StoredKey[] {
    return this.#gone(this.#inner.clear());
  }

  values(range?: unknown, direction?: string): Iterable<StoredKey> {
    return this.#inner.values(range, direction);
  }

  size(): number {
    return this.#inner.size();
  }

  /** Of a record that is on disk. */
  restore(key: unknown): void {
    this.#inner.put(new CommittedRecord(key, this));
  }

  load(key: unknown): unknown {
    return this.#disk.load(this.id, keyBytes(key));
  }

  changes(): RecordChange[] {
    return [...this.#changed.values()].map(({ key, bytes }) => ({ store: this.id, key: keyBytes(key), bytes }));
  }

  /** The changes are on disk: memory lets go of the values. */
  settle(): void {
    for (const { key, bytes } of this.#changed.values()) if (bytes) this.restore(key);
    this.#changed.clear();
  }

  /** The changes were undone. */
  discard(): void {
    this.#changed.clear();
  }

  #gone(records: StoredKey[]): StoredKey[] {
    for (const { key } of records) this.#changed.set(nameOf(key), { key, bytes: undefined });
    return records;
  }
}

/** Keys that are equal by the library's order have one name. */
const nameOf = (key: unknown): string => keyBytes(key).toString("latin1");

/** A record whose value is on disk alone: memory holds the keys. */
class CommittedRecord implements StoredKey {
  key: unknown;
  readonly #records: DurableRecords;

  constructor(key: unknown, records: DurableRecords) {
    this.key = key;
    this.#records = records;
  }

  get value(): unknown {
    return this.#records.load(this.key);
  }
}

// Keys and values of IndexedDB as bytes.

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
