/** The database alone, for a command that needs nothing else of a service that does not run. */
import { existsSync } from "node:fs";
import { type Json, SvcError } from "@svc/contract";
import type { ControlCall, ControlHandlers } from "@svc/gateway/control";
import { type Home, systemClock } from "@svc/kernel";
import { lockHome, openStore, type Store } from "@svc/store";
import type { Place } from "./call-here.ts";
import { deviceHandlers } from "./devices.ts";
import { secretHandlers } from "./secrets.ts";

/** Throws ALREADY_RUNNING, STORE_*, and what the command throws. */
export function answerFromStore(place: Place, call: Omit<ControlCall, "socketFile">): Promise<Json> {
  return withStore(place.home, async (store) => {
    const handler = handlersOf(store, place)[call.name];
    if (!handler) throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
    return handler({ body: call.body ?? {}, signal: new AbortController().signal, send: () => {} });
  });
}

const handlersOf = (
  { devices, vault }: Store,
  { home, file = home.config, features = [] }: Place,
): ControlHandlers => ({
  ...deviceHandlers({
    list: () => devices.all(),
    rename: (id, name) => devices.rename(id, name),
    revoke: (id) => devices.remove(id),
  }),
  ...(features && secretHandlers({ home, file: () => file, features, vault })),
});

/** Claims are a turn's affair, and no turn runs here. */
const NO_CLAIMS = { ttlMs: 0, maxKeys: 1 };

/** With the home to itself, so that no daemon starts meanwhile. Leaves no trace in a home that is none. */
async function withStore<T>(home: Home, work: (store: Store) => Promise<T>): Promise<T> {
  const unlock = existsSync(home.database) || existsSync(home.config) ? lockHome(home.lock) : () => {};
  try {
    const file = existsSync(home.database) ? home.database : ":memory:";
    const store = openStore({ file, clock: systemClock, idempotency: NO_CLAIMS });
    try {
      return await work(store);
    } finally {
      store.close();
    }
  } finally {
    unlock();
  }
}
