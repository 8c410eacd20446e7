/** A store of keys that lasts as long as the test, whichever process opens it. */
import * as library from "fake-indexeddb";
import type { CryptoDeps } from "../src/crypto.ts";

export function memoryStore(): CryptoDeps["openStore"] {
  const indexedDB = new library.IDBFactory();
  return async () => ({
    install() {
      const classes = Object.entries(library).filter(([name]) => name.startsWith("IDB"));
      for (const [name, value] of [...classes, ["indexedDB", indexedDB] as const]) {
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
      }
      // Another channel of the same test may go on with the classes.
      return { [Symbol.dispose]: () => void Reflect.deleteProperty(globalThis, "indexedDB") };
    },
    atomically: (work) => work(),
    refusal: () => undefined,
    close: () => undefined,
  });
}
