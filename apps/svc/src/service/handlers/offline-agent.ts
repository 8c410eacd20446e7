/** The agent of a service that does not run: without profiles, so that none of its turns can. Its texts are redacted. */
import { existsSync } from "node:fs";
import { type Agent, createAgent } from "@svc/agent";
import type { Logger } from "@svc/contract";
import { createLogger } from "@svc/runtime";
import { createRedactor, loadConfig } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import type { Store } from "@svc/store";
import type { Place } from "./place.ts";

export interface OfflineAgent {
  readonly agent: Agent;
  readonly log: Logger;
  readonly redact: (text: string) => string;
}

/** Throws what loading the config throws: what is not known to be a secret would be shown. */
export async function offlineAgent(store: Store, { home, config }: Required<Place>): Promise<OfflineAgent> {
  const there = existsSync(config.file ?? home.config);
  const secrets = there ? (await loadConfig({ home, ...config })).secrets() : [];
  const { redact } = createRedactor(secrets);
  const log = createLogger({ level: "error", write: () => {}, json: true, clock: systemClock });
  const agents = { profiles: new Map(), maxParallelTurns: 1, historyMaxTokens: 0 };
  return { agent: createAgent({ agents, store, clock: systemClock, log, redact }), log, redact };
}
