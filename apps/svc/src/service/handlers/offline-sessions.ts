/** Conversations of a service that does not run. */
import type { ControlHandlers } from "@svc/gateway/control";
import type { Store } from "@svc/store";
import { offlineAgent } from "./offline-agent.ts";
import type { Place } from "./place.ts";
import { sessionHandlers } from "./sessions.ts";

/** Throws what loading the config throws. */
export async function offlineSessions(store: Store, place: Required<Place>): Promise<ControlHandlers> {
  const { agent } = await offlineAgent(store, place);
  return sessionHandlers({ sessions: agent.sessions, devices: () => store.devices.all() });
}
