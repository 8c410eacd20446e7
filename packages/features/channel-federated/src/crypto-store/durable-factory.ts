/**
 * fake-indexeddb, made durable. The library keeps everything in memory and offers no way to store it, so this file hooks its
 * internals, in four places, each on the object itself and none on a prototype:
 *
 *     factory._databases.set, delete          a database comes to be or goes; factory.deleteDatabase reports a refusal
 *     database.rawObjectStores.set            an object store comes to be: its records go through DurableRecords
 *     database.transactions.push              a transaction begins
 *     transaction._start, _abort              it is about to complete: commit first; it aborts: forget its changes
 *
 * `learnLibrary` and `proveHooks` fail when the library is not what this was written for.
 */
import { IDBVersionChangeEvent } from "fake-indexeddb";
import { SvcError } from "@svc/contract";
import { DurableRecords, type RecordChange } from "./durable-records.ts";
import {
  changed,
  intercept,
  type Library,
  newFactory,
  type RawConnection,
  type RawDatabase,
  type RawStore,
  type RawTransaction,
  type Request,
} from "./library.ts";

export interface Schema {
  readonly name: string;
  readonly version: number;
  readonly stores: readonly StoreSchema[];
}

interface StoreSchema {
  /** Of this object store, in whatever database it is; never used again. */
  readonly id: number;
  readonly name: string;
  readonly keyPath: string | string[] | null;
  readonly autoIncrement: boolean;
  /** The last number of its key generator; 0 without one. */
  readonly generated: number;
  readonly indexes: readonly IndexSchema[];
}

interface IndexSchema {
  readonly name: string;
  readonly keyPath: string | string[];
  readonly multiEntry: boolean;
  readonly unique: boolean;
}

/** Where a transaction's changes go. Methods throw when the disk refuses. */
export interface Persistence {
  newStoreId(): number;
  /** On disk when it returns: the changes, the schema if it changed, nothing of the dropped stores. Else nothing of it. */
  commit(
    database: string,
    schema: Schema | undefined,
    changes: readonly RecordChange[],
    dropped: readonly number[],
  ): void;
  /** A database with all of its stores. */
  remove(database: string, dropped: readonly number[]): void;
  /** The value of a record that was committed, by its `keyBytes`. */
  load(store: number, key: Buffer): unknown;
  /** The name of the DOMException that a transaction is aborted with after `commit` threw. */
  errorName(error: unknown): string;
  /** Memory may differ from the disk: refuse everything from here on. */
  fail(error: unknown): void;
}

/** An IDBFactory whose transactions complete only after `persistence.commit`. */
export class DurableFactory {
  readonly indexedDB = newFactory();
  readonly #persistence: Persistence;
  /** Stores of each database as they are on disk; a database that is not on disk has none here. */
  readonly #onDisk = new Map<string, ReadonlyMap<number, number>>();
  readonly #refusals = new Map<string, unknown>();

  constructor(persistence: Persistence) {
    this.#persistence = persistence;
    intercept(this.#databases, "set", (set) => (name: string, database: RawDatabase) => {
      this.#hookDatabase(database);
      return set(name, database);
    });
    intercept(this.#databases, "delete", (remove) => (name: string) => {
      const stores = this.#onDisk.get(name);
      try {
        if (stores) this.#persistence.remove(name, [...stores.keys()]);
      } catch (error) {
        // The library knows no failure here. The database stays in memory as on disk, and `deleteDatabase` reports it.
        this.#refusals.set(name, error);
        return false;
      }
      this.#onDisk.delete(name);
      return remove(name);
    });
    intercept(this.indexedDB, "deleteDatabase", (deleteDatabase) => (...args: unknown[]) => {
      const request: Request = deleteDatabase(...args);
      intercept(request, "dispatchEvent", (dispatch) => (event: { readonly type: string }) => {
        const refusal = this.#refusals.get(args[0] as string);
        if (event.type !== "success" || refusal === undefined) return dispatch(event);
        this.#refusals.delete(args[0] as string);
        request.error = new DOMException("The database could not be deleted.", this.#persistence.errorName(refusal));
        return dispatch(new (IDBVersionChangeEvent as unknown as new (type: string) => object)("error"));
      });
      return request;
    });
  }

  /** Puts back what was committed: the database with its empty stores. Returns how each store takes its records. */
  restore(
    { Database, Store, Index }: Library,
    schema: Schema,
  ): ReadonlyMap<number, (key: unknown, value: unknown) => void> {
    const database = new Database(schema.name, schema.version);
    const takers = new Map<number, (key: unknown, value: unknown) => void>();
    this.#databases.set(schema.name, database);
    for (const { id, name, keyPath, autoIncrement, generated, indexes } of schema.stores) {
      const store = new Store(database, name, keyPath, autoIncrement);
      const records = new DurableRecords(store.records, id, this.#persistence);
      store.records = records;
      if (store.keyGenerator) store.keyGenerator.num = generated;
      for (const index of indexes) {
        const made = new Index(store, index.name, index.keyPath, index.multiEntry, index.unique);
        made.initialized = true;
        store.rawIndexes.set(index.name, made);
      }
      database.rawObjectStores.set(name, store);
      takers.set(id, (key, value) => {
        records.restore(key);
        for (const index of store.rawIndexes.values()) index.storeRecord({ key, value });
      });
    }
    this.#onDisk.set(schema.name, generators(database));
    return takers;
  }

  /** Closes all connections. What did not complete yet is aborted. */
  closeAll(): void {
    for (const database of this.#databases.values()) {
      for (const connection of database.connections) connection.close();
      for (const transaction of database.transactions) {
        if (transaction._state !== "finished") transaction._abort("AbortError");
      }
    }
  }

  get #databases(): Map<string, RawDatabase> {
    return this.indexedDB._databases;
  }

  #hookDatabase(database: RawDatabase): void {
    const adopt = (store: RawStore): void => {
      if (store.records instanceof DurableRecords) return; // renamed, or back after an abort
      store.records = new DurableRecords(store.records, this.#persistence.newStoreId(), this.#persistence);
    };
    intercept(database.rawObjectStores, "set", (set) => (name: string, store: RawStore) => {
      adopt(store);
      return set(name, store);
    });
    intercept(database.transactions, "push", (push) => (transaction: RawTransaction) => {
      if (transaction.mode !== "readonly") this.#hookTransaction(transaction, database);
      return push(transaction);
    });
  }

  #hookTransaction(transaction: RawTransaction, database: RawDatabase): void {
    intercept(transaction, "_start", (start) => () => {
      if (isAboutToComplete(transaction)) {
        try {
          this.#commit(transaction, database);
        } catch (error) {
          transaction._abort(this.#persistence.errorName(error));
        }
      }
      start();
    });
    intercept(transaction, "_abort", (abort) => (name: string | null) => {
      try {
        abort(name);
      } catch (error) {
        // A record could not be read that had to come back. Nothing is trusted from here on, but the transaction ends.
        this.#persistence.fail(error);
        transaction._rollbackLog.length = 0;
        abort(name);
      } finally {
        // The library may abort twice, and would undo twice.
        transaction._rollbackLog.length = 0;
        for (const store of touched(transaction, database)) recordsOf(store).discard();
      }
    });
  }

  #commit(transaction: RawTransaction, database: RawDatabase): void {
    const onDisk = this.#onDisk.get(database.name);
    const stores = touched(transaction, database);
    const now = generators(database);
    const isNew = transaction.mode === "versionchange" || [...now].some(([id, num]) => onDisk?.get(id) !== num);
    const changes = stores.flatMap((store) => recordsOf(store).changes());
    const dropped = [...(onDisk?.keys() ?? [])].filter((id) => !now.has(id));
    if (!isNew && changes.length === 0) return;
    this.#persistence.commit(database.name, isNew ? schemaOf(database) : undefined, changes, dropped);
    if (isNew) this.#onDisk.set(database.name, now);
    for (const store of stores) recordsOf(store).settle();
  }
}

/** The library would end it now: no request is left. As at the start of FDBTransaction._start. */
const isAboutToComplete = ({ _state, error, _requests }: RawTransaction): boolean =>
  _state !== "finished" && !error && !_requests.some(({ request }) => request.readyState !== "done");

/** No other transaction that writes touches them meanwhile. */
const touched = ({ mode, _scope }: RawTransaction, { rawObjectStores }: RawDatabase): RawStore[] =>
  mode === "versionchange"
    ? [...rawObjectStores.values()]
    : [..._scope].flatMap((name) => rawObjectStores.get(name) ?? []);

function recordsOf({ records, name }: RawStore): DurableRecords {
  if (!(records instanceof DurableRecords)) throw changed(`the object store ${name} was not seen`);
  return records;
}

/** The last number of each store's key generator, by the store's id. */
const generators = ({ rawObjectStores }: RawDatabase): Map<number, number> =>
  new Map([...rawObjectStores.values()].map((store) => [recordsOf(store).id, store.keyGenerator?.num ?? 0]));

const schemaOf = ({ name, version, rawObjectStores }: RawDatabase): Schema => ({
  name,
  version,
  stores: [...rawObjectStores.values()].map((store) => ({
    id: recordsOf(store).id,
    name: store.name,
    keyPath: store.keyPath,
    autoIncrement: store.autoIncrement,
    generated: store.keyGenerator?.num ?? 0,
    indexes: [...store.rawIndexes.values()].map(({ name, keyPath, multiEntry, unique }) => ({
      name,
      keyPath,
      multiEntry,
      unique,
    })),
  })),
});

/**
 * Proves the hooks on a database in memory: an upgrade and a write must commit before they complete, and an abort must leave
 * nothing behind. Rejects with STORE_FAILED.
 */
export async function proveHooks(): Promise<void> {
  try {
    await probe();
  } catch (error) {
    throw error instanceof SvcError ? error : changed("a transaction can't be made");
  }
}

async function probe(): Promise<void> {
  const log: string[] = [];
  const factory = new DurableFactory({
    newStoreId: () => 1,
    commit: (_name, schema, changes) => void log.push(`commit ${schema?.stores[0]?.name} ${changes.length}`),
    remove: () => {},
    load: () => ({ member: "a" }),
    errorName: () => "UnknownError",
    fail: () => log.push("fail"),
  });
  const request = factory.indexedDB.open("probe", 1);
  const connection = await new Promise<RawConnection>((resolve, reject) => {
    request.addEventListener("upgradeneeded", () => {
      const store = request.result.createObjectStore("first");
      store.createIndex("index", "member");
      store.put({ member: "a" }, "key");
      request.transaction.addEventListener("complete", () => log.push("complete"));
    });
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(changed("a database can't be opened")));
  });
  for (const end of ["complete", "abort"] as const) {
    const transaction = connection.transaction("first", "readwrite");
    const store = transaction.objectStore("first");
    store.put({ member: end }, "key");
    if (end === "abort") store.put({ member: end }, "other").addEventListener("success", () => transaction.abort());
    log.push(
      await new Promise<string>((resolve) => {
        for (const type of ["complete", "abort"]) transaction.addEventListener(type, () => resolve(type));
      }),
    );
  }
  const order = log.join(", ");
  if (order !== "commit first 1, complete, commit undefined 1, complete, abort") {
    throw changed(`transactions went otherwise: ${order}`);
  }
  const store = connection._rawDatabase.rawObjectStores.get("first");
  if (!store || store.records.size() !== 1 || recordsOf(store).changes().length > 0) {
    throw changed("an aborted transaction was not undone");
  }
  connection.close();
}
