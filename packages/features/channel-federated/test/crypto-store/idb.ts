/** As much of IndexedDB's types as these tests use (the project has no types of the DOM), and requests as promises. */

interface Target {
  addEventListener(type: string, listener: (event: { preventDefault(): void }) => void): void;
}
export interface Request<T = unknown> extends Target {
  readonly result: T;
  readonly error: DOMException | null;
}
export interface OpenRequest extends Request<Database> {
  readonly transaction: Transaction;
}
export interface Index {
  readonly name: string;
  getAllKeys(query?: unknown): Request<unknown[]>;
  getAll(query?: unknown): Request<unknown[]>;
}
export interface Store {
  name: string;
  readonly keyPath: unknown;
  readonly autoIncrement: boolean;
  readonly indexNames: Iterable<string>;
  put(value: unknown, key?: unknown): Request;
  add(value: unknown, key?: unknown): Request;
  get(key: unknown): Request;
  getAll(query?: unknown): Request<unknown[]>;
  getAllKeys(query?: unknown): Request<unknown[]>;
  delete(key: unknown): Request;
  clear(): Request;
  count(): Request<number>;
  index(name: string): Index;
  createIndex(name: string, keyPath: string | string[], options?: { unique?: boolean; multiEntry?: boolean }): Index;
  deleteIndex(name: string): void;
  openCursor(): Request<Cursor | null>;
}
export interface Cursor {
  readonly key: unknown;
  readonly value: unknown;
  update(value: unknown): Request;
  delete(): Request;
  continue(): void;
}
export interface Transaction extends Target {
  readonly error: DOMException | null;
  objectStore(name: string): Store;
  abort(): void;
  commit(): void;
}
export interface Database {
  readonly version: number;
  readonly objectStoreNames: Iterable<string>;
  createObjectStore(name: string, options?: { keyPath?: string | string[]; autoIncrement?: boolean }): Store;
  deleteObjectStore(name: string): void;
  transaction(stores: string | string[], mode?: "readonly" | "readwrite"): Transaction;
  close(): void;
}
export interface Factory {
  open(name: string, version?: number): OpenRequest;
  deleteDatabase(name: string): Request;
  databases(): Promise<{ name: string; version: number }[]>;
  cmp(first: unknown, second: unknown): number;
}

/** Rejects with the request's error. */
export const result = <T>(request: Request<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("no error")));
  });

/** Resolves with "complete", or the name of the error of an aborted transaction; "abort" without one. */
export const end = (transaction: Transaction): Promise<string> =>
  new Promise((resolve) => {
    transaction.addEventListener("complete", () => resolve("complete"));
    transaction.addEventListener("abort", () => resolve(transaction.error?.name ?? "abort"));
  });

/** Opens a database; `upgrade` makes its stores. */
export function open(
  factory: object,
  name: string,
  version?: number,
  upgrade: (database: Database, transaction: Transaction) => void = () => {},
): Promise<Database> {
  const request = version === undefined ? (factory as Factory).open(name) : (factory as Factory).open(name, version);
  request.addEventListener("upgradeneeded", () => upgrade(request.result, request.transaction));
  return result(request);
}

/** One transaction over all stores of the database. Resolves as `end` does. */
export function write(database: Database, change: (store: (name: string) => Store) => void): Promise<string> {
  const transaction = database.transaction([...database.objectStoreNames], "readwrite");
  change((name) => transaction.objectStore(name));
  return end(transaction);
}

/** All of a database: each store with its shape, keys, values, and the keys of its indexes. */
export async function everything(factory: object, name: string): Promise<unknown> {
  const known = (await (factory as Factory).databases()).find((each) => each.name === name);
  if (!known) return undefined;
  const database = await open(factory, name);
  const stores: Record<string, unknown> = {};
  for (const storeName of database.objectStoreNames) {
    const store = database.transaction(storeName).objectStore(storeName);
    const indexes: Record<string, unknown> = {};
    const [keys, values] = [result(store.getAllKeys()), result(store.getAll())];
    const asked = [...store.indexNames].map((index) => [index, result(store.index(index).getAllKeys())] as const);
    for (const [index, answer] of asked) indexes[index] = await answer;
    stores[storeName] = {
      keyPath: store.keyPath,
      autoIncrement: store.autoIncrement,
      keys: await keys,
      values: await values,
      indexes,
    };
  }
  const { version } = database;
  database.close();
  return { version, stores };
}
