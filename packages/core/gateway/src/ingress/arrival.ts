/** What a channel made of a delivery, as it is kept. */
import { newMessageOf } from "@svc/agent";
import { DEDUPE_MS, type Notice, type Parsed } from "@svc/contract";
import type { Arrival, NewMessage } from "@svc/store";

/**
 * Undefined when there is nothing to keep. `once`: of the verdict. What was used for a delivery without a message is used
 * up, too: recorded by somebody, it would be good again once its sender is on the list.
 */
export function arrivalOf(channel: string, parsed: Parsed, once: string | undefined): Arrival | undefined {
  const { inbound = [], notices = [], updates = [] } = parsed;
  if (inbound.length + notices.length + updates.length === 0 && once === undefined) return undefined;
  return {
    channel,
    messages: [...inbound.map(newMessageOf), ...notices.map((notice) => noticeOf(channel, notice))],
    ...(once !== undefined && { once }),
    ...(updates.length > 0 && { updates }),
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
