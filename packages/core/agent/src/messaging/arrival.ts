/** A message as a channel made it, as it is kept. */
import { DEDUPE_MS, type Inbound, type Json } from "@svc/contract";
import { laneOf } from "@svc/kit";
import type { NewMessage } from "@svc/store";

export function newMessageOf(inbound: Inbound): NewMessage {
  const { unlocks, ...body } = inbound;
  const { kind = "message", id, dedupeMs = DEDUPE_MS, sequence, conversation } = body;
  return {
    kind,
    lane: laneOf(conversation),
    body: body as unknown as Json,
    ...(unlocks && { unlocks }),
    ...(id !== undefined && { dedupe: { key: id, forMs: dedupeMs, ...(sequence !== undefined && { sequence }) } }),
  };
}
