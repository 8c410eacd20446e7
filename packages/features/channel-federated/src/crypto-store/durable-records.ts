/** An object store's records: the library's order in memory, the values on disk, and what changed since the last commit. */
import type { RecordStore, StoredKey } from "./library.ts";
import { keyBytes, toBytes } from "./values.ts";

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
