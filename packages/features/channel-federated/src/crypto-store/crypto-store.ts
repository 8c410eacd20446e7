/**
 * IndexedDB in a file: what a transaction wrote is on disk, encrypted, before its `complete` event. For the crypto of
 * matrix-js-sdk, which stores keys and sessions in IndexedDB alone. docs/decisions/0008-indexeddb-in-a-sealed-file.md
 */
import { SvcError } from "@svc/contract";
import {
  IDBCursor,
  IDBCursorWithValue,
  IDBDatabase,
  IDBFactory,
  IDBIndex,
  IDBKeyRange,
  IDBObjectStore,
  IDBOpenDBRequest,
  IDBRecord,
  IDBRequest,
  IDBTransaction,
  IDBVersionChangeEvent,
} from "fake-indexeddb";
import { DurableFactory, type Persistence, proveHooks, type Schema } from "./durable-factory.ts";
import type { RecordChange } from "./durable-records.ts";
import { learnLibrary } from "./library.ts";
import { type Change, SealedFile, type SealedFileOptions } from "./sealed-file.ts";
import { fromBytes, keyBytes, toBytes } from "./durable-records.ts";

export interface CryptoStoreOptions extends SealedFileOptions {
  /**
   * Called when a transaction was aborted because its changes could not be stored (STORE_FULL, STORE_FAILED), and when a record
   * could not be read (STORE_FAILED): everything is refused from then on.
   */
  readonly onRefused?: (error: SvcError) => void;
}

export interface CryptoStore extends Disposable {
  /**
   * An IDBFactory. A transaction that the disk refuses is aborted, with QuotaExceededError when the disk is full, else with
   * UnknownError; memory is then as before it. A value that is neither plain data nor a buffer is a DataCloneError.
   */
  readonly indexedDB: object;
  /** Whether this call made the file: there is no identity in it. */
  readonly isNew: boolean;
  /**
   * Sets `globalThis.indexedDB` and the classes beside it, where the SDK looks for them, until the result is disposed of.
   * Throws STORE_FAILED while there is another `indexedDB`.
   */
  install(): Disposable;
  /**
   * What is stored while `work` goes on is on disk once this has resolved, and nothing of it when the process is killed before. Nothing
   * that depends on it may leave the process meanwhile. When it rejects, the store refuses everything from then on: open it anew.
   */
  atomically<T>(work: () => Promise<T>): Promise<T>;
  /** Aborts what did not complete, and closes the file. Idempotent. */
  close(): void;
}

/**
 * Opens the store and decrypts every record once. One process may have it open; a second one that writes makes the first one
 * refuse. Give `create: false` once there was a store: a missing file is an error then, and not a new identity.
 * Rejects with SECRET_UNREADABLE for another key; STORE_FAILED when the file is missing, damaged or altered; STORE_NEWER;
 * STORE_FULL.
 */
export async function openCryptoStore({ onRefused, ...options }: CryptoStoreOptions): Promise<CryptoStore> {
  const library = await learnLibrary();
  await proveHooks();
  const file = new SealedFile(options);
  try {
    const stored = new StoredDatabases(file, onRefused);
    const factory = new DurableFactory(stored);
    const takers = new Map<number, (key: unknown, value: unknown) => void>();
    await file.readAll((store, bytes) => {
      const [key, value] = fromBytes(bytes);
      if (store !== SCHEMAS) return takers.get(store)!(key, value);
      const schema = value as Schema;
      stored.seen(schema);
      for (const [id, taker] of factory.restore(library, schema)) takers.set(id, taker);
    });
    const close = (): void => {
      factory.closeAll();
      file.close();
    };
    const { indexedDB } = factory;
    return {
      indexedDB,
      isNew: file.isNew,
      install: () => install(indexedDB),
      atomically: (work) => stored.atomically(work),
      close,
      [Symbol.dispose]: close,
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** The store of the file that holds a Schema by the name of each database. */
const SCHEMAS = 0;

class StoredDatabases implements Persistence {
  readonly #file: SealedFile;
  readonly #onRefused: CryptoStoreOptions["onRefused"];
  #lastStore = SCHEMAS;
  /** The last that was told. */
  #refusal: SvcError | undefined;
  #failed = false;

  constructor(file: SealedFile, onRefused: CryptoStoreOptions["onRefused"]) {
    this.#file = file;
    this.#onRefused = onRefused;
  }

  seen({ stores }: Schema): void {
    for (const { id } of stores) this.#lastStore = Math.max(this.#lastStore, id);
  }

  /** Of a store that was dropped a number may come back: its records are gone by then. */
  newStoreId(): number {
    this.#lastStore += 1;
    return this.#lastStore;
  }

  commit(name: string, schema: Schema | undefined, changes: readonly RecordChange[], dropped: readonly number[]): void {
    this.#write(
      [...changes.map((change) => this.#sealed(change)), ...(schema ? [this.#schema(name, schema)] : [])],
      dropped,
    );
  }

  async atomically<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#file.atomically(work);
    } catch (error) {
      if (this.#file.failure) this.fail(error);
      throw error;
    }
  }

  remove(name: string, dropped: readonly number[]): void {
    this.#write([this.#schema(name, undefined)], dropped);
  }

  load(store: number, key: Buffer): unknown {
    try {
      return fromBytes(this.#file.read(store, this.#file.idOf(store, key)))[1];
    } catch (error) {
      this.fail(error);
      throw new DOMException("A record could not be read.", "UnknownError");
    }
  }

  errorName(error: unknown): string {
    return error instanceof SvcError && error.code === "STORE_FULL" ? "QuotaExceededError" : "UnknownError";
  }

  fail(error: unknown): void {
    const failure = this.#file.fail(error);
    if (this.#failed) return;
    this.#failed = true;
    this.#tell(failure);
  }

  #tell(error: SvcError): void {
    if (error !== this.#refusal) this.#onRefused?.(error);
    this.#refusal = error;
  }

  #write(changes: readonly Change[], dropped: readonly number[]): void {
    try {
      this.#file.commit(changes, dropped);
    } catch (error) {
      if (error instanceof SvcError) this.#tell(error);
      throw error;
    }
  }

  #sealed({ store, key, bytes }: RecordChange): Change {
    return { store, id: this.#file.idOf(store, key), bytes };
  }

  #schema(name: string, schema: Schema | undefined): Change {
    const bytes = schema && toBytes(name, schema);
    return { store: SCHEMAS, id: this.#file.idOf(SCHEMAS, keyBytes(name)), bytes };
  }
}

const CLASSES = {
  IDBCursor,
  IDBCursorWithValue,
  IDBDatabase,
  IDBFactory,
  IDBIndex,
  IDBKeyRange,
  IDBObjectStore,
  IDBOpenDBRequest,
  IDBRecord,
  IDBRequest,
  IDBTransaction,
  IDBVersionChangeEvent,
};

function install(indexedDB: object): Disposable {
  const globals: Record<string, unknown> = { ...CLASSES, indexedDB };
  if (Reflect.get(globalThis, "indexedDB") !== undefined) {
    throw new SvcError("STORE_FAILED", "Another IndexedDB is installed in this process.");
  }
  const before = Object.getOwnPropertyDescriptors(globalThis) as Record<string, PropertyDescriptor | undefined>;
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return {
    [Symbol.dispose]: () => {
      for (const name of Object.keys(globals)) {
        const old = before[name];
        if (old) Object.defineProperty(globalThis, name, old);
        else Reflect.deleteProperty(globalThis, name);
      }
    },
  };
}
