// Random transactions, upgrades and deletions have the same results in the crypto store as in fake-indexeddb alone, which is in
// memory and judged by the web-platform tests; also after the store was closed and opened again, at any place between them.
import { join } from "node:path";
import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cases } from "@svc/cases";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { type CryptoStore, openCryptoStore } from "../../src/crypto-store/crypto-store.ts";
import { end, everything, type Factory, open, type Request, result, type Store } from "./idb.ts";

const KEY = new Uint8Array(32).fill(7);

/** Few, so that they meet; of every kind. */
const key = fc.constantFrom<unknown[]>(
  1,
  2,
  -0,
  1.5,
  new Date(1),
  "",
  "a",
  "ab",
  new Uint8Array([1, 2]).buffer,
  [],
  [1],
  ["a", [2]],
);
const value = fc.record(
  {
    id: fc.constantFrom<unknown[]>(1, 2, 3, 7.5, "x", undefined, {}),
    u: fc.constantFrom<unknown[]>(1, 2, 3, "y", [1], Number.NaN),
    tags: fc.array(fc.constantFrom<unknown[]>("p", "q", 1, null), { maxLength: 3 }),
    bytes: fc.uint8Array({ maxLength: 5 }),
    text: fc.string({ maxLength: 5 }),
  },
  { requiredKeys: [] },
);
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("put" as const), store: fc.nat(3), key, value }) },
  fc.record({ do: fc.constant("add" as const), store: fc.nat(3), key, value }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), store: fc.nat(3), key }) },
  fc.record({ do: fc.constant("delete range" as const), store: fc.nat(3), key }),
  fc.record({ do: fc.constant("clear" as const), store: fc.nat(3) }),
  fc.record({ do: fc.constant("get" as const), store: fc.nat(3), key }),
  fc.record({ do: fc.constant("cursor" as const), store: fc.nat(3), value }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("transaction" as const),
      operations: fc.array(operation, { maxLength: 8 }),
      end: fc.constantFrom("complete", "complete", "abort", "fail"),
    }),
  },
  fc.record({
    do: fc.constant("upgrade" as const),
    changes: fc.array(
      fc.record({
        what: fc.constantFrom("create", "drop", "rename", "index", "drop index"),
        store: fc.nat(3),
        name: fc.constantFrom("a", "b", "c"),
      }),
      { maxLength: 3 },
    ),
    operations: fc.array(operation, { maxLength: 3 }),
    aborts: fc.boolean(),
  }),
  fc.record({ do: fc.constant("reopen" as const) }),
  fc.record({ do: fc.constant("delete" as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

test("has the results of fake-indexeddb, over reopening", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      using home = temporaryHome();
      const path = join(home.path, "crypto.db");
      const plain = new IDBFactory() as object;
      let store: CryptoStore = await openCryptoStore({ path, key: KEY, create: true });
      try {
        for (const each of steps) {
          if (each.do === "reopen") {
            store.close();
            store = await openCryptoStore({ path, key: KEY, create: false });
          }
          expect(await run(store.indexedDB, each)).toEqual(await run(plain, each));
          expect(await everything(store.indexedDB, "db")).toEqual(await everything(plain, "db"));
        }
        store.close();
        store = await openCryptoStore({ path, key: KEY, create: false });
        expect(await everything(store.indexedDB, "db")).toEqual(await everything(plain, "db"));
      } finally {
        store.close();
      }
    }),
    { numRuns: cases(300) },
  );
});

/** What each request and the whole step came to. */
async function run(factory: object, step: Step): Promise<unknown> {
  if (step.do === "reopen") return undefined;
  if (step.do === "delete") return (await result((factory as Factory).deleteDatabase("db"))) ?? "gone";
  const outcomes: Promise<unknown>[] = [];
  if (step.do === "upgrade") {
    const { version = 0 } = (await (factory as Factory).databases())[0] ?? {};
    const thrown: unknown[] = [];
    const opened = open(factory, "db", version + 1, (database, transaction) => {
      const names = (): string[] => [...database.objectStoreNames];
      for (const { what, store, name } of step.changes) {
        try {
          const existing = names()[store % names().length];
          if (what === "create" || existing === undefined) {
            const auto = store % 2 === 1;
            const made = database.createObjectStore(name, auto ? { keyPath: "id", autoIncrement: true } : {});
            made.createIndex("u", "u", { unique: store > 1 });
            made.createIndex("tags", "tags", { multiEntry: true });
          } else if (what === "drop") database.deleteObjectStore(existing);
          else if (what === "rename") transaction.objectStore(existing).name = name;
          else if (what === "index") transaction.objectStore(existing).createIndex(name, ["u", "text"]);
          else transaction.objectStore(existing).deleteIndex(name);
        } catch (error) {
          thrown.push((error as Error).name);
        }
      }
      const operations = step.aborts ? step.operations.map(withoutNumber) : step.operations;
      outcomes.push(...operations.map((each) => perform(names(), (name) => transaction.objectStore(name), each)));
      if (step.aborts) transaction.abort();
    });
    const how = await opened.then(
      (database) => database.close(),
      (error: Error) => error.name,
    );
    return [thrown, how, await Promise.all(outcomes)];
  }
  const database = await open(factory, "db");
  const names = [...database.objectStoreNames];
  if (names.length === 0) return database.close();
  const transaction = database.transaction(names, "readwrite");
  const ended = end(transaction);
  const operations = step.end === "complete" ? step.operations : step.operations.map(withoutNumber);
  outcomes.push(...operations.map((each) => perform(names, (name) => transaction.objectStore(name), each)));
  const last = transaction.objectStore(names[0]!);
  if (step.end === "abort") last.count().addEventListener("success", () => transaction.abort());
  if (step.end === "fail") {
    last.put({ id: "x" }, last.keyPath === null ? "x" : undefined);
    last.add({ id: "x" }, last.keyPath === null ? "x" : undefined);
  }
  const how = await ended;
  database.close();
  return [how, await Promise.all(outcomes)];
}

/**
 * A number that is given as a key moves the store's key generator. When the transaction is undone, fake-indexeddb leaves it there;
 * what was written to disk never had it, as the standard wants it.
 */
function withoutNumber<T extends Operation>(operation: T): T {
  if (!("value" in operation) || typeof operation.value.id !== "number") return operation;
  return { ...operation, value: { ...operation.value, id: "x" } };
}

/** A failed request is handled, and does not end its transaction. */
function perform(names: string[], storeOf: (name: string) => Store, operation: Operation): Promise<unknown> {
  const name = names[operation.store % names.length];
  if (name === undefined) return Promise.resolve("no store");
  try {
    const store = storeOf(name);
    if (operation.do === "cursor") return walk(store, operation.value);
    return outcome(requestOf(store, operation));
  } catch (error) {
    return Promise.resolve((error as Error).name);
  }
}

function requestOf(store: Store, operation: Exclude<Operation, { do: "cursor" }>): Request {
  switch (operation.do) {
    case "put":
      return store.keyPath === null ? store.put(operation.value, operation.key) : store.put(operation.value);
    case "add":
      return store.keyPath === null ? store.add(operation.value, operation.key) : store.add(operation.value);
    case "delete":
      return store.delete(operation.key);
    case "delete range":
      return store.delete((IDBKeyRange as unknown as { lowerBound(key: unknown): unknown }).lowerBound(operation.key));
    case "clear":
      return store.clear();
    case "get":
      return store.get(operation.key);
  }
}

const outcome = (request: Request): Promise<unknown> =>
  new Promise((resolve) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", (event) => {
      event.preventDefault();
      resolve(request.error?.name);
    });
  });

/** Every second record is deleted, the others get `value`. */
function walk(store: Store, value: object): Promise<unknown> {
  const seen: unknown[] = [];
  const request = store.openCursor();
  return new Promise((resolve) => {
    request.addEventListener("error", (event) => {
      event.preventDefault();
      resolve(seen);
    });
    request.addEventListener("success", () => {
      const cursor = request.result;
      if (!cursor) return resolve(seen);
      seen.push(cursor.key);
      try {
        const { id } = cursor.value as { id?: unknown };
        const changed =
          seen.length % 2 ? cursor.delete() : cursor.update({ ...value, ...(id !== undefined && { id }) });
        changed.addEventListener("error", (event) => event.preventDefault());
        cursor.continue();
      } catch (error) {
        resolve([seen, (error as Error).name]);
      }
    });
  });
}
