/** The database alone, for a command that needs nothing else of a service that does not run: no feature is started. */
import { existsSync } from "node:fs";
import type { ControlAnswer, ControlName } from "@svc/api/control";
import type { Home } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { lockHome, openStore, type Store } from "@svc/store";
import { answer, type ControlCall, type Handlers } from "../control.ts";
import type { OfflineOptions } from "./call-here.ts";
import { deviceHandlers } from "./devices.ts";
import { secretHandlers } from "./secrets.ts";

/** Throws ALREADY_RUNNING, STORE_*, and what the command throws. */
export function answerFromStore<Name extends ControlName>(
  offline: OfflineOptions,
  call: ControlCall<Name>,
): Promise<ControlAnswer<Name>> {
  return withStore(offline.home, async (store) =>
    answer(await handlersOf(call.name, store, offline), call, new AbortController().signal),
  );
}

/** Of the command's own subject only: the agent is no small thing to load, and rotating must work where loading does not. */
async function handlersOf(
  subject: ControlName,
  store: Store,
  { home, config }: OfflineOptions,
): Promise<Partial<Handlers>> {
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
