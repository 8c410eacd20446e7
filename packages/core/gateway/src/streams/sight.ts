/** Which events a device may see: an operator all; who may only read, its own turns and what is nobody's alone. */
import type { SvcEvent } from "@svc/contract";
import type { Device } from "@svc/store";

export type Sight = (event: SvcEvent) => boolean;

/** `begun`: ids of the turns that this connection has begun. A token for messages sees nothing else. */
export function sightOf({ scope, clientId }: Device, begun: ReadonlySet<string>): Sight {
  if (scope === "operator") return () => true;
  if (scope === "webhook") return (event) => "turnId" in event && isOwned(event) && begun.has(event.turnId);
  return (event) => (isOwned(event) ? event.owner === clientId : OPEN.has(event.type));
}

/** Not what people write, ask and answer in channels. */
const OPEN: ReadonlySet<SvcEvent["type"]> = new Set([
  "sop-run-start",
  "sop-run-step",
  "sop-run-end",
  "sop-change",
  "channel-health",
  "hardware-changed",
  "safety-request",
  "safety-refuse",
  "safety-stop",
  "safety-reset",
  "voice-state",
]);

type Owned = Extract<SvcEvent, { readonly owner: unknown }>;

const isOwned = (event: SvcEvent): event is Owned => "owner" in event;
