// The crypto store's file: encrypted, its owner's alone, and an error with a code when it is missing, altered, or another key's;
// never an empty store.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync, StatementSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CryptoStore } from "../../src/crypto-store/crypto-store.ts";
import { type Database, end, everything, open, result, write } from "./idb.ts";
import { type StoreFixture, storeFixture } from "./store-fixture.ts";

let at: StoreFixture;
beforeEach(() => {
  at = storeFixture();
});
afterEach(() => at[Symbol.dispose]());

describe("the file", () => {
  test("is open to its owner alone, its log too, and holds nothing in plain", async () => {
    const { store, db } = await at.oneDatabase();
    const secret = "the-secret-of-a-session";
    await write(db, (of) => of("keys").put({ secret }, `key-${secret}`));
    for (const file of [at.path, `${at.path}-wal`]) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const bytes = readFileSync(file);
      for (const text of [secret, "sdk", "keys"]) {
        expect([file, text, bytes.includes(text), bytes.includes(Buffer.from(text, "utf16le"))]).toEqual([
          file,
          text,
          false,
          false,
        ]);
      }
    }
    store.close();
  });

  test("is not opened with another key", async () => {
    const { store } = await at.oneDatabase();
    store.close();
    await expect(at.openStore({ key: new Uint8Array(32).fill(8) })).rejects.toMatchObject({
      code: "SECRET_UNREADABLE",
    });
    await expect(at.openStore({ key: new Uint8Array(31) })).rejects.toThrow(TypeError);
    expect((await at.openStore()).isNew).toBe(false);
  });

  test("that is missing is an error where there was one, and nothing is made", async () => {
    await expect(at.openStore({ create: false })).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(existsSync(at.path)).toBe(false);
    const { store } = await at.oneDatabase();
    expect(store.isNew).toBe(true);
    store.close();
    writeFileSync(at.path, "");
    await expect(at.openStore({ create: false })).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  describe("when it was altered", () => {
    beforeEach(async () => {
      const { store, db } = await at.oneDatabase();
      await write(db, (of) => ["a", "b", "c"].forEach((key) => of("keys").put({ key }, key)));
      store.close();
    });

    const OF_KEYS = "store > 0 AND n = (SELECT min(n) FROM record WHERE store > 0)";
    const OTHER = "store > 0 AND n = (SELECT max(n) FROM record WHERE store > 0)";
    test.each([
      ["a record under another's key", `UPDATE record SET sealed = (SELECT sealed FROM record WHERE ${OTHER})`],
      ["a record in another store", `UPDATE record SET store = 99 WHERE ${OF_KEYS}`],
      ["a record that is gone", `DELETE FROM record WHERE ${OF_KEYS}`],
      ["all records gone", "DELETE FROM record"],
      ["no schema", "DELETE FROM record WHERE store = 0"],
      ["no manifest", "DELETE FROM manifest"],
      ["no table", "DROP TABLE record"],
      ["no format", "PRAGMA user_version = 0"],
    ])("is refused: %s", async (_name, statement) => {
      at.alter(statement);
      await expect(at.openStore()).rejects.toMatchObject({ code: "STORE_FAILED" });
      await expect(at.openStore({ create: false })).rejects.toMatchObject({ code: "STORE_FAILED" });
    });

    test("is refused: one bit of a record", async () => {
      const db = new DatabaseSync(at.path);
      const { n, sealed } = db.prepare(`SELECT n, sealed FROM record WHERE ${OF_KEYS}`).get() as {
        n: number;
        sealed: Uint8Array;
      };
      sealed[sealed.length - 1]! ^= 1;
      db.prepare("UPDATE record SET sealed = ? WHERE n = ?").run(sealed, n);
      db.close();
      await expect(at.openStore()).rejects.toMatchObject({ code: "STORE_FAILED" });
    });

    test("is refused: a manifest that does not open", async () => {
      at.alter("UPDATE manifest SET sealed = zeroblob(80)");
      await expect(at.openStore()).rejects.toMatchObject({ code: "SECRET_UNREADABLE" });
    });

    test("is refused: an older state of one record", async () => {
      const older = new DatabaseSync(at.path);
      older.exec(`CREATE TABLE aside AS SELECT * FROM record WHERE ${OF_KEYS}`);
      older.close();
      const store = await at.openStore();
      await write(await open(store.indexedDB, "sdk"), (of) => {
        for (const key of ["a", "b", "c"]) of("keys").put({ key, newer: true }, key);
      });
      store.close();
      at.alter("UPDATE record SET sealed = aside.sealed FROM aside WHERE record.n = aside.n", "DROP TABLE aside");
      await expect(at.openStore()).rejects.toMatchObject({ code: "STORE_FAILED" });
    });

    test("is refused: no SQLite file, and half of one", async () => {
      const bytes = readFileSync(at.path);
      writeFileSync(at.path, bytes.subarray(0, 5000));
      await expect(at.openStore()).rejects.toMatchObject({ code: "STORE_FAILED" });
      writeFileSync(at.path, "x".repeat(9000));
      await expect(at.openStore()).rejects.toMatchObject({ code: "STORE_FAILED" });
    });

    test("is refused: a newer format", async () => {
      at.alter("PRAGMA user_version = 2");
      await expect(at.openStore()).rejects.toMatchObject({ code: "STORE_NEWER" });
    });

    test("while it is open: the read fails, and nothing is trusted from there on", async () => {
      const refused: string[] = [];
      const store = await at.openStore({ onRefused: ({ code }) => refused.push(code) });
      const db = await open(store.indexedDB, "sdk");
      at.alter(`UPDATE record SET sealed = zeroblob(100) WHERE ${OF_KEYS}`);
      const get = (key: string): Promise<unknown> => result(db.transaction("keys").objectStore("keys").get(key));
      await expect(get("a")).rejects.toMatchObject({ name: "UnknownError" });
      await expect(get("b")).rejects.toMatchObject({ name: "UnknownError" });
      expect(refused).toEqual(["STORE_FAILED"]);
      expect(await write(db, (of) => of("keys").put("new", "d"))).toBe("UnknownError");
    });

    test("while a transaction is under way: it still ends when it can't be undone, and nothing is trusted", async () => {
      const store = await at.openStore();
      const db = await open(store.indexedDB, "sdk", 2, (_database, transaction) => {
        transaction.objectStore("keys").createIndex("by key", "key");
      });
      const transaction = db.transaction("keys", "readwrite");
      const ended = end(transaction);
      transaction
        .objectStore("keys")
        .put({ key: "changed" }, "a")
        .addEventListener("success", () => {
          at.alter("UPDATE record SET sealed = zeroblob(100) WHERE store > 0");
          transaction.abort();
        });
      expect(await ended).toBe("abort");
      expect(await write(db, (of) => of("keys").put("new", "d"))).toBe("UnknownError");
    });
  });

  test("that another process writes to meanwhile is not written to any more", async () => {
    const { store, db } = await at.oneDatabase();
    const other = await at.openStore();
    const otherDb = await open(other.indexedDB, "sdk");
    expect(await write(otherDb, (of) => of("keys").put("other", 1))).toBe("complete");
    expect(await write(db, (of) => of("keys").put("mine", 1))).toBe("UnknownError");
    expect(await write(otherDb, (of) => of("keys").put("other", 2))).toBe("complete");
    store.close();
    other.close();
    const again = await at.openStore();
    expect(await everything(again.indexedDB, "sdk")).toMatchObject({
      stores: { keys: { values: ["other", "other"] } },
    });
  });

  test("that is locked by another program: the transaction aborts, the next one completes", async () => {
    const refused: string[] = [];
    const { store, db } = await at.oneDatabase({ onRefused: ({ code }) => refused.push(code), lockWaitMs: 0 });
    const before = await everything(store.indexedDB, "sdk");
    const lock = new DatabaseSync(at.path);
    lock.exec("BEGIN IMMEDIATE");
    expect(await write(db, (of) => of("keys").put("new", 1))).toBe("UnknownError");
    expect(await everything(store.indexedDB, "sdk")).toEqual(before);
    lock.exec("ROLLBACK");
    lock.close();
    expect(await write(db, (of) => of("keys").put("new", 1))).toBe("complete");
    expect(refused).toEqual(["STORE_FAILED"]);
  });
});

describe("what is stored as one", () => {
  const put = (db: Database, key: string): Promise<string> => write(db, (of) => of("keys").put("value", key));
  const keysIn = async (store: CryptoStore): Promise<unknown> => {
    const { stores } = (await everything(store.indexedDB, "sdk")) as { stores: { keys: { keys: unknown } } };
    return stores.keys.keys;
  };
  /** As the next process finds it after a kill. */
  const onDisk = async (): Promise<unknown> => {
    files += 1;
    const path = join(at.folder, `copy-${files}.db`);
    const reader = new DatabaseSync(at.path, { readOnly: true });
    reader.exec(`VACUUM INTO '${path}'`);
    reader.close();
    return keysIn(await at.openStore({ path, create: false }));
  };
  let files = 0;

  test("is on disk once all of it is stored, and not before", async () => {
    const { store, db } = await at.oneDatabase();
    const seen = await store.atomically(async () => {
      expect([await put(db, "a"), await put(db, "b")]).toEqual(["complete", "complete"]);
      expect(await keysIn(store)).toEqual(["a", "b"]);
      return onDisk();
    });
    expect([seen, await onDisk()]).toEqual([[], ["a", "b"]]);
    await put(db, "c");
    expect(await onDisk()).toEqual(["a", "b", "c"]);
  });

  test("is undone when it is given up, and nothing is trusted from there on", async () => {
    const refused: string[] = [];
    const { store, db } = await at.oneDatabase({ onRefused: ({ code }) => refused.push(code) });
    await put(db, "before");
    const work = async (): Promise<void> => {
      await put(db, "a");
      throw new RangeError("given up");
    };
    await expect(store.atomically(work)).rejects.toThrow(RangeError);
    expect(await put(db, "b")).toBe("UnknownError");
    await expect(store.atomically(async () => {})).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(refused).toContain("STORE_FAILED");
    store.close();
    expect(await keysIn(await at.openStore())).toEqual(["before"]);
  });

  test("is undone when the disk is full, and told once", async () => {
    const refused: string[] = [];
    const { store, db } = await at.oneDatabase({ onRefused: ({ code }) => refused.push(code) });
    const full = vi.spyOn(StatementSync.prototype, "run").mockImplementation(() => {
      throw Object.assign(new Error("full"), { errcode: 13, errstr: "database or disk is full" });
    });
    const ends: string[] = [];
    const work = async (): Promise<void> => void ends.push(await put(db, "a"));
    await expect(store.atomically(work)).rejects.toMatchObject({ code: "STORE_FULL" });
    full.mockRestore();
    expect([ends, refused]).toEqual([["QuotaExceededError"], ["STORE_FULL"]]);
    store.close();
    expect(await keysIn(await at.openStore())).toEqual([]);
  });

  test("is not begun while another process writes, and harms nothing then", async () => {
    const { store, db } = await at.oneDatabase({ lockWaitMs: 0 });
    const lock = new DatabaseSync(at.path);
    lock.exec("BEGIN IMMEDIATE");
    await expect(store.atomically(() => put(db, "a"))).rejects.toMatchObject({ code: "STORE_FAILED" });
    lock.exec("ROLLBACK");
    lock.close();
    expect(await store.atomically(() => put(db, "b"))).toBe("complete");
    expect(await onDisk()).toEqual(["b"]);
  });

  test("is one at a time", async () => {
    const { store, db } = await at.oneDatabase();
    const first = store.atomically(() => put(db, "a"));
    await expect(store.atomically(() => put(db, "b"))).rejects.toThrow(TypeError);
    expect(await first).toBe("complete");
    expect(await onDisk()).toEqual(["a"]);
  });
});

test("a copy made while the store is written, as `svc backup` makes it, has what was stored before it", async () => {
  const { store, db } = await at.oneDatabase();
  for (let n = 0; n < 20; n += 1) await write(db, (of) => of("keys").put({ n, text: "x".repeat(3000) }, n));
  const copy = join(at.folder, "copy.db");
  const reader = new DatabaseSync(at.path, { readOnly: true });
  const copied = backup(reader, copy, { rate: 2 ** 31 - 1 });
  for (let n = 20; n < 40; n += 1) await write(db, (of) => of("keys").put({ n }, n));
  await copied;
  reader.close();
  store.close();
  const restored = await at.openStore({ path: copy, create: false });
  const { stores } = (await everything(restored.indexedDB, "sdk")) as { stores: { keys: { keys: number[] } } };
  const { keys } = stores.keys;
  expect(keys).toEqual(Array.from({ length: keys.length }, (_, n) => n));
  expect(keys.length).toBeGreaterThanOrEqual(20);
});
