/** The encrypted store of one feature: sealed with the home's key, kept in the database, seen by nobody else. */
import { type SecretStore, SvcError } from "@svc/contract";
import { type Home, openKeyRing } from "@svc/config";
import type { Store } from "@svc/store";

/** `store` is asked for at each use: features are made before the database is open. */
export function featureSecrets(feature: string, home: Home, store: () => Store): SecretStore {
  return {
    async get(name) {
      const sealed = store().vault.get(feature, named(name));
      return sealed === undefined ? undefined : openKeyRing(home).open(sealed);
    },
    async set(name, value) {
      // Sealed inside the write: a key rotation is one, so a value can't be sealed with a key that goes before it is kept.
      await store().vault.set(feature, named(name), () => openKeyRing(home).seal(value));
    },
    delete: (name) => store().vault.delete(feature, named(name)),
    list: async (prefix = "") => store().vault.list(feature, prefix),
  };
}

/** Throws BAD_REQUEST. */
export function named(name: string): string {
  if (name.length >= 1 && name.length <= 200) return name;
  throw new SvcError("BAD_REQUEST", "The name of what a feature keeps has 1 to 200 characters.");
}
