/** Conversations of a service that does not run: an agent without profiles keeps them, and no turn of theirs runs. */
import { existsSync } from "node:fs";
import { createAgent } from "@svc/agent";
import type { ControlHandlers } from "@svc/gateway/control";
import { createLogger, createRedactor, loadConfig, systemClock } from "@svc/kernel";
import type { Store } from "@svc/store";
import type { Place } from "./place.ts";
import { sessionHandlers } from "./sessions.ts";

/** Throws what loading the config throws: what is not known to be a secret would be shown. */
export async function loneSessions(store: Store, { home, config }: Required<Place>): Promise<ControlHandlers> {
  const there = existsSync(config.file ?? home.config);
  const secrets = there ? (await loadConfig({ home, ...config })).secrets() : [];
  const { sessions } = createAgent({
    agents: { profiles: new Map(), maxParallelTurns: 1, historyMaxTokens: 0 },
    store,
    clock: systemClock,
    log: createLogger({ level: "error", write: () => {}, json: true, clock: systemClock }),
    redact: createRedactor(secrets).redact,
  });
  return sessionHandlers({ sessions, devices: () => store.devices.all() });
}
