/** How the service stands now, in numbers: what observability backends ask for. */
import type { Readings } from "@svc/contract";
import type { Service } from "./service.ts";

type Deps = Pick<Service, "agent" | "events" | "lifecycle" | "messaging" | "store">;

/** `connections`: of the gateway, where there is one. */
export function readingsOf({ agent, events, lifecycle, messaging, store }: Deps, connections: number): Readings {
  const { inbox, outbox, oldestMs } = messaging.messageAdmin.counts();
  return {
    inbox: { count: inbox.waiting, oldestAgeMs: oldestMs.inbox },
    outbox: { count: outbox.waiting, oldestAgeMs: oldestMs.outbox },
    dead: { received: inbox.failed, toSend: outbox.dead },
    approvalsWaiting: store.approvals.countWaiting(),
    sopRuns: store.sopRuns.active().length,
    turnsRunning: agent.load().running,
    eventSubscribers: events.hub.subscribers,
    connections,
    devices: store.devices.all().length,
    features: lifecycle.features().map(({ id, state }) => ({ id, isUp: state === "running" })),
  };
}
