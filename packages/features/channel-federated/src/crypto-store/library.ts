/**
 * The internals of fake-indexeddb that the crypto store hooks: their shapes, as far as they are used, and the way to put a
 * function before one of their methods. Whatever is not as it was in LIBRARY_VERSION is an error here, before anything is stored.
 */
import { IDBFactory, IDBTransaction } from "fake-indexeddb";
import { SvcError } from "@svc/contract";

export const LIBRARY_VERSION = "6.2.8";

export interface StoredKey {
  key: unknown;
  readonly value: unknown;
}
export interface RecordStore {
  get(key: unknown): StoredKey | undefined;
  put(record: StoredKey, noOverwrite?: boolean): StoredKey | undefined;
  delete(key: unknown): StoredKey[];
  clear(): StoredKey[];
  values(range?: unknown, direction?: string): Iterable<StoredKey>;
  size(): number;
}
export interface RawIndex {
  initialized: boolean;
  readonly name: string;
  readonly keyPath: string | string[];
  readonly multiEntry: boolean;
  readonly unique: boolean;
  storeRecord(record: StoredKey): void;
}
export interface RawStore {
  records: RecordStore;
  readonly rawIndexes: Map<string, RawIndex>;
  readonly name: string;
  readonly keyPath: string | string[] | null;
  readonly autoIncrement: boolean;
  readonly keyGenerator: { num: number } | null;
}
export interface RawDatabase {
  readonly name: string;
  version: number;
  readonly rawObjectStores: Map<string, RawStore>;
  readonly transactions: RawTransaction[];
  readonly connections: readonly RawConnection[];
}
export interface RawConnection {
  readonly _rawDatabase: RawDatabase;
  createObjectStore(name: string, options?: object): StoreHandle;
  transaction(store: string, mode: string): RawTransaction;
  close(): void;
}
interface Target {
  addEventListener(type: string, listener: () => void): void;
}
interface StoreHandle {
  createIndex(name: string, keyPath: string): void;
  put(value: unknown, key: string): Target;
}
interface OpenRequest extends Target {
  readonly result: RawConnection;
  readonly transaction: RawTransaction;
}
export interface RawTransaction extends Target {
  readonly mode: string;
  readonly error: unknown;
  readonly db: RawConnection;
  readonly _state: string;
  readonly _scope: ReadonlySet<string>;
  readonly _requests: readonly { readonly request: { readonly readyState: string } }[];
  readonly _rollbackLog: unknown[];
  objectStore(name: string): StoreHandle;
  abort(): void;
  _start(): void;
  _abort(name: string | null): void;
}
export interface Request {
  error: unknown;
  dispatchEvent(event: object): boolean;
}

export interface RawFactory {
  readonly _databases: Map<string, RawDatabase>;
  deleteDatabase(name: string): Request;
  open(name: string, version?: number): OpenRequest;
}

/** The parts of the library that it does not export. */
export interface Library {
  readonly Database: new (name: string, version: number) => RawDatabase;
  readonly Store: new (
    database: RawDatabase,
    name: string,
    keyPath: RawStore["keyPath"],
    autoIncrement: boolean,
  ) => RawStore;
  readonly Index: new (
    store: RawStore,
    name: string,
    keyPath: RawIndex["keyPath"],
    multiEntry: boolean,
    unique: boolean,
  ) => RawIndex;
}

/** Puts a function of ours before a method of one object. Throws STORE_FAILED when there is no such method. */
export function intercept<T extends object, K extends keyof T & string>(
  target: T,
  name: K,
  // oxlint-disable-next-line typescript/no-explicit-any -- the library's own types end here
  wrap: (original: (...args: any[]) => any) => (...args: any[]) => unknown,
): void {
  const original = demandFunction(target, name);
  Object.defineProperty(target, name, { value: wrap(original.bind(target)), configurable: true });
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
function demandFunction(target: object, name: string): (...args: any[]) => any {
  const value: unknown = Reflect.get(target, name);
  if (typeof value !== "function") throw changed(`${name} is not a method`);
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  return value as (...args: any[]) => any;
}

export const changed = (what: string): SvcError =>
  new SvcError(
    "STORE_FAILED",
    `fake-indexeddb is not the version ${LIBRARY_VERSION} that the crypto store was written for: ${what}.`,
    {
      hint: "Install the version that this svc pins.",
    },
  );

/** Reads the classes off a database in memory that is not hooked, and looks at all that is used of them. Rejects with STORE_FAILED. */
export async function learnLibrary(): Promise<Library> {
  const factory = newFactory();
  if (!(factory._databases instanceof Map)) throw changed("_databases is not a Map");
  demandFunction(factory, "deleteDatabase");
  for (const name of ["_start", "_abort"]) demandFunction(IDBTransaction.prototype as object, name);
  const request = factory.open("probe", 1);
  return await new Promise((resolve, reject) => {
    request.addEventListener("error", () => reject(changed("a database can't be opened")));
    request.addEventListener("upgradeneeded", () => {
      try {
        request.result.createObjectStore("store", { autoIncrement: true }).createIndex("index", "member");
        resolve(shapesOf(request.result, request.transaction));
      } catch (error) {
        reject(error instanceof SvcError ? error : changed("an upgrade went otherwise"));
      }
    });
    request.addEventListener("success", () => request.result.close());
  });
}

export const newFactory = (): RawFactory => new (IDBFactory as unknown as new () => RawFactory)();

function shapesOf({ _rawDatabase: database }: RawConnection, transaction: RawTransaction): Library {
  const { rawObjectStores, transactions, connections } = database ?? {};
  if (!(rawObjectStores instanceof Map)) throw changed("rawObjectStores is not a Map");
  if (!Array.isArray(transactions) || !transactions.includes(transaction)) throw changed("transactions is no list");
  if (!Array.isArray(connections)) throw changed("connections is no list");
  const { mode, _state, _scope, _requests, _rollbackLog } = transaction;
  if (mode !== "versionchange" || _state !== "active") throw changed("a transaction has another state");
  if (!(_scope instanceof Set) || !_scope.has("store")) throw changed("_scope is not a Set");
  if (!Array.isArray(_rollbackLog)) throw changed("_rollbackLog is no list");
  if (!Array.isArray(_requests) || _requests[0]?.request?.readyState !== "pending")
    throw changed("_requests is no list");
  const store = rawObjectStores.get("store");
  for (const name of RECORD_STORE) demandFunction(store?.records ?? {}, name);
  if (store?.keyGenerator?.num !== 0) throw changed("a key generator has no number");
  const index = store.rawIndexes instanceof Map ? store.rawIndexes.get("index") : undefined;
  if (index?.initialized !== false) throw changed("an index is not to be initialized");
  demandFunction(index, "storeRecord");
  return {
    Database: database.constructor as Library["Database"],
    Store: store.constructor as Library["Store"],
    Index: index.constructor as Library["Index"],
  };
}

const RECORD_STORE = ["get", "put", "delete", "clear", "values", "size"] as const;
