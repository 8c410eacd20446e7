/** What a channel made of a delivery, as it is kept. */
import type { Inbound, Json, Notice, Parsed } from "@svc/contract";
import { DEDUPE_MS } from "@svc/contract";
import { laneOf } from "@svc/kit";
import type { Arrival, NewMessage } from "@svc/store";

/** Undefined when there is nothing to keep. `once`: of the verdict. */
export function arrivalOf(channel: string, parsed: Parsed, once: string | undefined): Arrival | undefined {
  const { inbound = [], notices = [], updates = [] } = parsed;
  if (inbound.length + notices.length + updates.length === 0) return undefined;
  return {
    channel,
    messages: [...inbound.map(messageOf), ...notices.map((notice) => noticeOf(channel, notice))],
    ...(once !== undefined && { once }),
    ...(updates.length > 0 && { updates }),
  };
}

function messageOf(inbound: Inbound): NewMessage {
  const { kind = "message", id, dedupeMs = DEDUPE_MS, sequence, conversation } = inbound;
  return {
    kind,
    lane: laneOf(conversation),
    body: inbound as unknown as Json,
    ...(id !== undefined && { dedupe: { key: id, forMs: dedupeMs, ...(sequence !== undefined && { sequence }) } }),
  };
}

function noticeOf(channel: string, { id, lane, body }: Notice): NewMessage {
  return {
    kind: "notice",
    lane: JSON.stringify({ notice: [channel, lane] }),
    body,
    // Apart from the ids of messages: one that the platform gives to both is not a duplicate.
    ...(id !== undefined && { dedupe: { key: `notice ${id}`, forMs: DEDUPE_MS } }),
  };
}
