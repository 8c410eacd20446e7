/** A feature's encrypted store, without encryption and without a disk. */
import type { SecretStore } from "@svc/contract";

export function memorySecrets(initial: Readonly<Record<string, string>> = {}): SecretStore {
  const kept = new Map(Object.entries(initial));
  return {
    get: async (name) => kept.get(name),
    set: async (name, value) => void kept.set(name, value),
    delete: async (name) => kept.delete(name),
    list: async (prefix = "") => [...kept.keys()].filter((name) => name.startsWith(prefix)).toSorted(),
  };
}
