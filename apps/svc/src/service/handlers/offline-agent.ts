/** The agent of a service that does not run: without profiles, so that none of its turns can. Its texts are redacted. */
import { existsSync } from "node:fs";
import { type Agent, createAgent } from "@svc/agent";
import { createRedactor, loadConfig } from "@svc/config";
import type { Logger } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { createLogger } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { Handlers } from "../control.ts";
import type { OfflineOptions } from "./call-here.ts";
import { sessionHandlers } from "./sessions.ts";

export interface OfflineAgent {
  readonly agent: Agent;
  readonly log: Logger;
  readonly redact: (text: string) => string;
}

/** Throws what loading the config throws: what is not known to be a secret would be shown. */
export async function offlineAgent(store: Store, { home, config }: Required<OfflineOptions>): Promise<OfflineAgent> {
  const there = existsSync(config.file ?? home.config);
  const secrets = there ? (await loadConfig({ home, ...config })).secrets() : [];
  const { redact } = createRedactor(secrets);
  const log = createLogger({ level: "error", write: () => {}, json: true, clock: systemClock });
  const agents = { profiles: new Map(), maxParallelTurns: 1, historyMaxTokens: 0 };
  return { agent: createAgent({ agents, store, clock: systemClock, log, redact }), log, redact };
}

/** Conversations of a service that does not run. Throws what loading the config throws. */
export async function offlineSessions(store: Store, offline: Required<OfflineOptions>): Promise<Partial<Handlers>> {
  const { agent } = await offlineAgent(store, offline);
  return sessionHandlers({ sessions: agent.sessions, devices: () => store.devices.all() });
}
