/** What one feature keeps that is no secret: in the database, seen by nobody else. */
import type { StateStore } from "@svc/contract";
import type { Store } from "@svc/store";
import { named } from "./feature-secrets.ts";

/** `store` is asked for at each use: features are made before the database is open. */
export function featureState(feature: string, store: () => Store): StateStore {
  return {
    get: async (name) => store().state.get(feature, named(name)),
    set: (name, value) => store().state.set(feature, named(name), value),
    delete: (name) => store().state.delete(feature, named(name)),
    list: async (prefix = "") => store().state.list(feature, prefix),
  };
}
