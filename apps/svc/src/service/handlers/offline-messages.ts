/** Both boxes of a service that does not run: what is taken up again here is worked on by the next start. */
import { SvcError } from "@svc/contract";
import { channelIdentity } from "@svc/gateway/identity";
import { systemClock } from "@svc/kit/system-clock";
import { createMessaging, type MessagingSettings } from "@svc/messaging";
import type { Store } from "@svc/store";
import type { Handlers } from "../control.ts";
import { offlineAgent } from "./offline-agent.ts";
import { messageHandlers } from "./messages.ts";
import type { OfflineOptions } from "./call-here.ts";

const NO_CHANNELS: MessagingSettings = {
  channels: new Map(),
  isUp: () => false,
  agentOf: () => undefined,
  targetsOf: () => ({ allowed: [], notification: undefined }),
  maxAttempts: 1,
  maxParallelTurns: 1,
  transcription: undefined,
  speech: undefined,
  spokenAnswers: () => "never",
};

/** Throws what loading the config throws. */
export async function offlineMessages(store: Store, offline: Required<OfflineOptions>): Promise<Partial<Handlers>> {
  const { agent, log, redact } = await offlineAgent(store, offline);
  const { messageAdmin } = createMessaging({
    store,
    agent,
    log,
    redact,
    clock: systemClock,
    publish: () => {},
    identity: channelIdentity(),
    settings: NO_CHANNELS,
    workspaceOf: () => undefined,
    fetch: () => Promise.reject(new SvcError("NOT_RUNNING")),
    runProgram: () => Promise.reject(new SvcError("NOT_RUNNING")),
  });
  return messageHandlers(messageAdmin);
}
