/** A feature's encrypted store, without encryption and without a disk. */
import type { ClientId, SecretStore } from "@svc/contract";

export function memorySecrets(initial: Readonly<Record<string, string>> = {}): SecretStore {
  const secrets = new Map(Object.entries(initial));
  return {
    get: async (name) => secrets.get(name),
    set: async (name, value) => void secrets.set(name, value),
    delete: async (name) => secrets.delete(name),
    list: async (prefix = "") => [...secrets.keys()].filter((name) => name.startsWith(prefix)).toSorted(),
  };
}

export interface ClientSecrets {
  of(clientId: ClientId): SecretStore;
  /** Of those that were asked for. */
  readonly all: ReadonlyMap<ClientId, SecretStore>;
  /** As when its device is revoked. */
  forget(clientId: ClientId): void;
}

/** The same, for each client one. */
export function memorySecretsByClient(): ClientSecrets {
  const all = new Map<ClientId, SecretStore>();
  return {
    all,
    forget: (clientId) => void all.delete(clientId),
    of: (clientId) => {
      const own = all.get(clientId) ?? memorySecrets();
      all.set(clientId, own);
      return own;
    },
  };
}
