/** Both boxes of a service that does not run: what is taken up again here is worked on by the next start. */
import { createMessaging, type MessagingSettings } from "@svc/messaging";
import { SvcError } from "@svc/contract";
import { channelIdentity } from "@svc/gateway/identity";
import type { ControlHandlers } from "@svc/gateway/control";
import { systemClock } from "@svc/kit/system-clock";
import type { Store } from "@svc/store";
import { offlineAgent } from "./offline-agent.ts";
import { messageHandlers } from "./messages.ts";
import type { Place } from "./place.ts";

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
export async function offlineMessages(store: Store, place: Required<Place>): Promise<ControlHandlers> {
  const { agent, log, redact } = await offlineAgent(store, place);
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
