/** A crypto store in a folder of its own, and another program that changes its file. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { type CryptoStore, type CryptoStoreOptions, openCryptoStore } from "../../src/crypto-store/crypto-store.ts";
import { type Database, open } from "./idb.ts";

export interface StoreFixture extends Disposable {
  readonly folder: string;
  readonly path: string;
  /** With one key, made when it is missing, unless the options say otherwise. */
  openStore(options?: Partial<CryptoStoreOptions>): Promise<CryptoStore>;
  /** A store with one database, `sdk`, that has one object store, `keys`. */
  oneDatabase(options?: Partial<CryptoStoreOptions>): Promise<{ store: CryptoStore; db: Database }>;
  /** Statements on the file, as another program would run them. */
  alter(...statements: string[]): void;
}

/** Disposing closes all of its stores. */
export function storeFixture(): StoreFixture {
  const home = temporaryHome();
  const path = join(home.path, "state", "crypto.db");
  const opened: CryptoStore[] = [];
  const openStore: StoreFixture["openStore"] = async (options) => {
    const store = await openCryptoStore({ path, key: new Uint8Array(32).fill(7), create: true, ...options });
    opened.push(store);
    return store;
  };
  return {
    folder: home.path,
    path,
    openStore,
    async oneDatabase(options) {
      const store = await openStore(options);
      const db = await open(store.indexedDB, "sdk", 1, (database) => database.createObjectStore("keys"));
      return { store, db };
    },
    alter(...statements) {
      const db = new DatabaseSync(path);
      try {
        for (const statement of statements) db.exec(statement);
      } finally {
        db.close();
      }
    },
    [Symbol.dispose]: () => {
      for (const store of opened) store.close();
      home.remove();
    },
  };
}
