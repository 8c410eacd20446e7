// What the crypto store promises beyond IndexedDB: a transaction is on disk before it completes, and memory and disk are the same
// after an abort; another make of the library is refused.
import { existsSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IDBFactory, IDBTransaction } from "fake-indexeddb";
import { LIBRARY_VERSION } from "../../src/crypto-store/library.ts";
import { end, everything, type Factory, open, result, write } from "./idb.ts";
import { type StoreFixture, storeFixture } from "./store-fixture.ts";

let at: StoreFixture;
beforeEach(() => {
  at = storeFixture();
});
afterEach(() => at[Symbol.dispose]());

describe("what was stored", () => {
  test("keeps every kind of key, in IndexedDB's order", async () => {
    const { store, db } = await at.oneDatabase();
    const keys: unknown[] = [
      -Infinity,
      -3.5,
      0,
      2,
      10,
      Infinity,
      new Date(-1),
      new Date(0),
      "",
      "\0",
      "a",
      "a\0b",
      "ab",
      "\u{1f600}",
      "\ud83d",
      "\uffff",
      new Uint8Array([]).buffer,
      new Uint8Array([0]).buffer,
      new Uint8Array([0, 255]).buffer,
      new Uint8Array([1]).buffer,
      [],
      [[]],
      [1],
      [1, "a"],
      [1, ["a", new Date(5)]],
      ["a"],
    ];
    const sorted = keys.toSorted((a, b) => (store.indexedDB as Factory).cmp(a, b));
    expect(await write(db, (of) => keys.forEach((key, n) => of("keys").put({ n }, key)))).toBe("complete");
    const before = await everything(store.indexedDB, "sdk");
    store.close();
    const again = await at.openStore({ create: false });
    const after = await everything(again.indexedDB, "sdk");
    expect(after).toEqual(before);
    expect((after as { stores: { keys: { keys: unknown[] } } }).stores.keys.keys).toEqual(sorted);
  });

  test("takes -0 and 0 for one key", async () => {
    const { store, db } = await at.oneDatabase();
    await write(db, (of) => of("keys").put("first", 0));
    await write(db, (of) => of("keys").put("second", -0));
    store.close();
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toMatchObject({ stores: { keys: { values: ["second"] } } });
  });

  test("keeps values as structured clone makes them", async () => {
    const { store, db } = await at.oneDatabase();
    const circle: Record<string, unknown> = { name: "circle" };
    circle["self"] = circle;
    const bytes = new Uint8Array([1, 2, 3, 4]);
    const value = {
      bytes: bytes.subarray(1, 3),
      same: bytes,
      buffer: new Uint8Array([9]).buffer,
      floats: new Float64Array([1.5]),
      date: new Date(5),
      map: new Map<unknown, unknown>([[{ a: 1 }, new Set([1n])]]),
      regexp: /a/gi,
      nothing: undefined,
      none: null,
      error: new RangeError("no"),
      sparse: [1, , 3], // oxlint-disable-line no-sparse-arrays -- it must come back so
      circle,
    };
    await write(db, (of) => of("keys").put(value, "k"));
    store.close();
    const again = await at.openStore();
    const read = (await result(
      (await open(again.indexedDB, "sdk")).transaction("keys").objectStore("keys").get("k"),
    )) as typeof value;
    expect(read).toEqual(structuredClone(value));
    expect(read.bytes.buffer).toBe(read.same.buffer);
    expect(read.bytes.byteOffset).toBe(1);
    expect(read.circle["self"]).toBe(read.circle);
    expect(1 in read.sparse).toBe(false);
  });

  test.each([
    ["a Blob", () => new Blob(["text"])],
    ["a Blob in a Map", () => new Map([["blob", new Blob(["text"])]])],
    ["a DOMException", () => [new DOMException("no")]],
  ])("refuses %s, which the file could not give back", async (_name, value) => {
    const { store, db } = await at.oneDatabase();
    expect(await write(db, (of) => of("keys").put(value(), "k"))).toBe("DataCloneError");
    expect(await write(db, (of) => of("keys").put("plain", "k"))).toBe("complete");
    expect(await everything(store.indexedDB, "sdk")).toMatchObject({ stores: { keys: { values: ["plain"] } } });
  });

  test("is in the file before `complete` is heard", async () => {
    const { store, db } = await at.oneDatabase();
    const transaction = db.transaction("keys", "readwrite");
    transaction.objectStore("keys").put("value", "k");
    let found: unknown;
    transaction.addEventListener("complete", () => {
      // A second look at the same instant, with a connection of its own.
      const file = new DatabaseSync(at.path, { readOnly: true });
      found = file.prepare("SELECT count(*) AS n FROM record WHERE store > 0").get()?.["n"];
      file.close();
    });
    await result(transaction.objectStore("keys").get("k"));
    await expect.poll(() => found).toBe(1);
    store.close();
  });

  test("is written once, and not kept in memory", async () => {
    const { store, db } = await at.oneDatabase();
    await write(db, (of) => of("keys").put("value", "k"));
    const sealed = (): unknown => {
      const file = new DatabaseSync(at.path, { readOnly: true });
      const rows = file.prepare("SELECT hex(sealed) AS sealed FROM record WHERE store > 0 ORDER BY n").all();
      file.close();
      return rows[0];
    };
    const before = sealed();
    await write(db, (of) => of("keys").put("other", "o"));
    expect(sealed()).toEqual(before);
    at.alter("UPDATE record SET sealed = zeroblob(100) WHERE store > 0");
    await expect(result(db.transaction("keys").objectStore("keys").get("k"))).rejects.toMatchObject({
      name: "UnknownError",
    });
    store.close();
  });

  test("keeps indexes, key generators and key paths", async () => {
    const store = await at.openStore();
    const db = await open(store.indexedDB, "sdk", 3, (database) => {
      const people = database.createObjectStore("people", { keyPath: "id.n", autoIncrement: true });
      people.createIndex("by name", "name", { unique: true });
      people.createIndex("by tag", "tags", { multiEntry: true });
      people.createIndex("by both", ["name", "tags"]);
    });
    await write(db, (of) => of("people").put({ name: "ann", tags: ["x", "y"] }));
    await write(db, (of) => of("people").put({ name: "bob", tags: ["y"], id: { n: 40 } }));
    await write(db, (of) => of("people").delete(40));
    const before = await everything(store.indexedDB, "sdk");
    store.close();
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toEqual(before);
    const db2 = await open(again.indexedDB, "sdk");
    expect(await write(db2, (of) => of("people").put({ name: "ann", tags: [] }))).toBe("ConstraintError");
    await write(db2, (of) => of("people").put({ name: "cid", tags: ["x"] }));
    expect(await everything(again.indexedDB, "sdk")).toMatchObject({
      version: 3,
      stores: {
        people: { keys: [1, 41], indexes: { "by name": [1, 41], "by tag": [1, 41, 1], "by both": [1, 41] } },
      },
    });
  });

  test("is written again through a cursor", async () => {
    const { store, db } = await at.oneDatabase();
    await write(db, (of) => [1, 2, 3].forEach((n) => of("keys").put({ n }, n)));
    const transaction = db.transaction("keys", "readwrite");
    const request = transaction.objectStore("keys").openCursor();
    request.addEventListener("success", () => {
      const cursor = request.result;
      if (!cursor) return;
      if (cursor.key === 2) cursor.delete();
      else cursor.update({ n: 10 * (cursor.key as number) });
      cursor.continue();
    });
    expect(await end(transaction)).toBe("complete");
    store.close();
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toMatchObject({
      stores: { keys: { keys: [1, 3], values: [{ n: 10 }, { n: 30 }] } },
    });
  });
});

describe("a transaction that aborts", () => {
  test("leaves memory and disk as they were", async () => {
    const { store, db } = await at.oneDatabase();
    await write(db, (of) => [1, 2, 3].forEach((n) => of("keys").put(`old ${n}`, n)));
    const before = await everything(store.indexedDB, "sdk");
    const transaction = db.transaction("keys", "readwrite");
    const keys = transaction.objectStore("keys");
    keys.put("new", 1);
    keys.delete(2);
    keys.put("more", 4);
    keys.clear();
    keys.put("again", 3);
    keys.count().addEventListener("success", () => transaction.abort());
    expect(await end(transaction)).toBe("abort");
    expect(await everything(store.indexedDB, "sdk")).toEqual(before);
    // A later commit must not bring along what was undone.
    await write(db, (of) => of("keys").put("last", 9));
    const after = await everything(store.indexedDB, "sdk");
    store.close();
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toEqual(after);
    expect(after).toMatchObject({ stores: { keys: { keys: [1, 2, 3, 9] } } });
  });

  test("is undone once, although a failed request aborts it twice", async () => {
    const { store, db } = await at.oneDatabase();
    await write(db, (of) => [1, 2].forEach((n) => of("keys").put(`old ${n}`, n)));
    const before = await everything(store.indexedDB, "sdk");
    const transaction = db.transaction("keys", "readwrite");
    const keys = transaction.objectStore("keys");
    keys.delete(1);
    keys.put("new", 3);
    keys.add("again", 2).addEventListener("error", () => transaction.abort());
    await end(transaction);
    expect(await everything(store.indexedDB, "sdk")).toEqual(before);
    expect(await write(db, (of) => of("keys").put("later", 4))).toBe("complete");
    const after = await everything(store.indexedDB, "sdk");
    store.close();
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toEqual(after);
  });

  test("keeps what a failed request in it had not done, when the failure is handled", async () => {
    const store = await at.openStore();
    const db = await open(store.indexedDB, "sdk", 1, (database) => {
      database.createObjectStore("s", { autoIncrement: true }).createIndex("u", "u", { unique: true });
    });
    await write(db, (of) => of("s").put({ u: 1, old: true }, 1));
    const transaction = db.transaction("s", "readwrite");
    const s = transaction.objectStore("s");
    s.put({ u: 2 }, 2);
    for (const request of [s.put({ u: 1 }), s.put({ u: 2, changed: true }, 1), s.add({ u: 3 }, 1)]) {
      request.addEventListener("error", (event) => event.preventDefault());
    }
    expect(await end(transaction)).toBe("complete");
    const before = await everything(store.indexedDB, "sdk");
    store.close();
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toEqual(before);
    expect(before).toMatchObject({ stores: { s: { keys: [1, 2], values: [{ old: true }, { u: 2 }] } } });
  });

  test("undoes an upgrade, and a completed one is there at once", async () => {
    const { store, db } = await at.oneDatabase();
    await write(db, (of) => of("keys").put("old", 1));
    db.close();
    const failed = open(store.indexedDB, "sdk", 2, (database, transaction) => {
      const keys = transaction.objectStore("keys");
      keys.put("new", 1);
      keys.createIndex("i", "i");
      keys.name = "renamed";
      database.createObjectStore("extra").put(1, 1);
      database.deleteObjectStore("renamed");
      transaction.abort();
    });
    await expect(failed).rejects.toMatchObject({ name: "AbortError" });
    const expected = { version: 1, stores: { keys: { keys: [1], values: ["old"], indexes: {} } } };
    expect(await everything(store.indexedDB, "sdk")).toMatchObject(expected);
    store.close();
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toMatchObject(expected);
    const upgraded = await open(again.indexedDB, "sdk", 2, (database, transaction) => {
      transaction.objectStore("keys").name = "renamed";
      transaction.objectStore("renamed").createIndex("i", "i");
      database.createObjectStore("extra").put({ i: 5 }, 1);
    });
    await write(upgraded, (of) => of("renamed").put({ i: 6 }, 2));
    again.close();
    const third = await at.openStore();
    expect(await everything(third.indexedDB, "sdk")).toMatchObject({
      version: 2,
      stores: {
        renamed: { keys: [1, 2], values: ["old", { i: 6 }], indexes: { i: [2] } },
        extra: { values: [{ i: 5 }] },
      },
    });
    const last = await open(third.indexedDB, "sdk", 3, (database, transaction) => {
      database.deleteObjectStore("renamed");
      transaction.objectStore("extra").createIndex("i", "i");
      database.createObjectStore("renamed");
    });
    last.close();
    third.close();
    const fourth = await at.openStore();
    expect(await everything(fourth.indexedDB, "sdk")).toMatchObject({
      version: 3,
      stores: { renamed: { keys: [], indexes: {} }, extra: { indexes: { i: [1] } } },
    });
  });

  test("is what close() makes of one that has not completed", async () => {
    const { store, db } = await at.oneDatabase();
    await write(db, (of) => of("keys").put("stored", 1));
    const transaction = db.transaction("keys", "readwrite");
    transaction.objectStore("keys").put("lost", 2);
    const ended = end(transaction);
    store.close();
    store.close();
    expect(await ended).toBe("AbortError");
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toMatchObject({ stores: { keys: { keys: [1] } } });
  });
});

describe("several databases", () => {
  test("are apart, and a deleted one is gone from the file", async () => {
    const store = await at.openStore();
    for (const name of ["a", "b"]) {
      const db = await open(store.indexedDB, name, 1, (database) => database.createObjectStore("keys"));
      await write(db, (of) => of("keys").put(`of ${name}`, "k"));
      db.close();
    }
    await result((store.indexedDB as Factory).deleteDatabase("a"));
    await result((store.indexedDB as Factory).deleteDatabase("never was"));
    store.close();
    const again = await at.openStore();
    expect(await (again.indexedDB as Factory).databases()).toEqual([{ name: "b", version: 1 }]);
    expect(await everything(again.indexedDB, "b")).toMatchObject({ stores: { keys: { values: ["of b"] } } });
    again.close();
    const file = new DatabaseSync(at.path, { readOnly: true });
    expect(file.prepare("SELECT count(*) AS n FROM record").get()).toEqual({ n: 2 });
    file.close();
  });

  test("one that the disk does not let go of is still there, and the request fails", async () => {
    const { store, db } = await at.oneDatabase({ lockWaitMs: 0 });
    await write(db, (of) => of("keys").put("old", 1));
    const before = await everything(store.indexedDB, "sdk");
    db.close();
    const lock = new DatabaseSync(at.path);
    lock.exec("BEGIN IMMEDIATE");
    const remove = (): Promise<unknown> => result((store.indexedDB as Factory).deleteDatabase("sdk"));
    await expect(remove()).rejects.toMatchObject({ name: "UnknownError" });
    lock.close();
    expect(await everything(store.indexedDB, "sdk")).toEqual(before);
    expect(await remove()).toBe(undefined);
    expect(await everything(store.indexedDB, "sdk")).toBe(undefined);
  });

  test("a deleted one comes back empty under its old name", async () => {
    const { store, db } = await at.oneDatabase();
    await write(db, (of) => of("keys").put("old", 1));
    db.close();
    await result((store.indexedDB as Factory).deleteDatabase("sdk"));
    const made = await open(store.indexedDB, "sdk", 1, (database) => database.createObjectStore("keys"));
    await write(made, (of) => of("keys").put("new", 2));
    store.close();
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toMatchObject({ stores: { keys: { keys: [2] } } });
  });
});

describe("fake-indexeddb", () => {
  test("is the version that the hooks were written for", () => {
    const manifest = new URL("../../package.json", import.meta.resolve("fake-indexeddb"));
    expect(JSON.parse(readFileSync(manifest, "utf8"))).toMatchObject({ version: LIBRARY_VERSION });
  });

  // Each is a way in which another version could differ. Nothing may be stored then.
  test.each<[string, () => Disposable]>([
    ["no _start", () => replaced(IDBTransaction.prototype, "_start", undefined)],
    ["no _abort", () => replaced(IDBTransaction.prototype, "_abort", "no function")],
    ["completes without _start", () => replaced(IDBTransaction.prototype, "_markFinished", () => {})],
    ["no deleteDatabase", () => replaced(IDBFactory.prototype, "deleteDatabase", undefined)],
    [
      "an abort that undoes nothing",
      () =>
        replaced(IDBTransaction.prototype, "abort", function (this: { _state: string; _rollbackLog: unknown[] }) {
          this._rollbackLog.length = 0;
          (this as unknown as { _abort(name: null): void })._abort(null);
        }),
    ],
  ])("of another make is refused: %s", async (_name, replace) => {
    {
      using _replaced = replace();
      await expect(at.openStore()).rejects.toMatchObject({
        code: "STORE_FAILED",
        message: expect.stringContaining("fake-indexeddb is not the version"),
      });
    }
    expect(existsSync(at.path)).toBe(false);
    expect((await at.openStore()).isNew).toBe(true);
  });
});

function replaced(target: object, name: string, value: unknown): Disposable {
  const before = Object.getOwnPropertyDescriptor(target, name)!;
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return { [Symbol.dispose]: () => Object.defineProperty(target, name, before) };
}

describe("install", () => {
  test("puts the store where the SDK looks for it, once, and takes it away again", async () => {
    const { store } = await at.oneDatabase();
    const names = (): string[] =>
      Object.getOwnPropertyNames(globalThis).filter((name) => /^(?:IDB|indexedDB)/.test(name));
    const before = names();
    {
      using _installed = store.install();
      expect(Reflect.get(globalThis, "indexedDB")).toBe(store.indexedDB);
      expect(() => store.install()).toThrow(expect.objectContaining({ code: "STORE_FAILED" }));
    }
    expect(names()).toEqual(before);
  });
});
