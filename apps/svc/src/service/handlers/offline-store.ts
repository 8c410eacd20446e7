/** The database alone, for a command that needs nothing else of a service that does not run: no feature is started. */
import { existsSync } from "node:fs";
import type { Home } from "@svc/config";
import { type Json, SvcError } from "@svc/contract";
import type { ControlCall, ControlHandlers } from "@svc/gateway/control";
import { systemClock } from "@svc/kit/system-clock";
import { lockHome, openStore, type Store } from "@svc/store";
import type { OfflineOptions } from "./call-here.ts";
import { deviceHandlers } from "./devices.ts";
import { secretHandlers } from "./secrets.ts";

/** Throws ALREADY_RUNNING, STORE_*, and what the command throws. */
export function answerFromStore(offline: OfflineOptions, call: Omit<ControlCall, "socketFile">): Promise<Json> {
  return withStore(offline.home, async (store) => {
    const handler = (await handlersOf(call.name, store, offline))[call.name];
    if (!handler) throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
    return handler({ body: call.body ?? {}, signal: new AbortController().signal, send: () => {} });
  });
}

/** Of the command's own subject only: the agent is no small thing to load, and rotating must work where loading does not. */
async function handlersOf(subject: string, store: Store, { home, config }: OfflineOptions): Promise<ControlHandlers> {
  const { devices, vault } = store;
  if (config && subject.startsWith("session")) {
    const { offlineSessions } = await import("./offline-agent.ts");
    return offlineSessions(store, { home, config });
  }
  if (config && subject.startsWith("inbox")) {
    const { offlineMessages } = await import("./offline-messages.ts");
    return offlineMessages(store, { home, config });
  }
  if (config && /^(?:sop|approval|audit)/.test(subject)) {
    const { offlineGovernance } = await import("./offline-governance.ts");
    return offlineGovernance(store, { home, config });
  }
  if (config && subject.startsWith("secrets")) {
    const { file = home.config, features } = config;
    return secretHandlers({ home, file: () => file, features, vault });
  }
  return deviceHandlers({
    list: () => devices.all(),
    rename: (id, name) => devices.rename(id, name),
    revoke: (id) => devices.remove(id),
  });
}

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
