/** One attempt to hand a notice to its channel: at least once, and as often as it takes. */
import { type Channel, SvcError } from "@svc/contract";
import { retryDelayMs } from "../retry-delay.ts";
import { within } from "../within.ts";
import type { Attempt } from "./attempt.ts";
import type { Attempted } from "./lane-options.ts";
import { incomingId } from "../message-id.ts";
import type { InboxParts } from "./parts.ts";
import { untilKept } from "./until-kept.ts";

/** Rejects with STORE_* while what became of the attempt can't be kept, and the notice waits as it did. */
export async function handOver(parts: InboxParts, attempt: Attempt, channel: Channel): Promise<Attempted> {
  const { store, log, random, stopping } = parts;
  const { signal, message } = attempt;
  const { n, body, attempts } = message;
  const messageId = incomingId(n);
  if (!channel.onNotice) {
    log.error("a channel keeps notices that it does not take", { messageId, channel: message.channel });
    await store.write(() => store.inbox.end(n, "failed", "CHANNEL_CANNOT"));
    return "over";
  }
  try {
    await within(signal, async () => channel.onNotice?.(body, signal));
  } catch (error) {
    if (attempt.calledOff === "shutdown") await store.write(() => store.inbox.calledOff(n));
    if (signal.aborted) return "over";
    const known = error instanceof SvcError ? error : undefined;
    const code = known?.code ?? "INTERNAL";
    const reason = known?.message ?? (error instanceof Error ? error.name : typeof error);
    log.warn("a notice could not be handled", { messageId, channel: message.channel, code, reason });
    await store.write(() => store.inbox.failed(n, code));
    return { restMs: retryDelayMs(attempts + 1, known?.retryAfterMs, random()) };
  }
  await untilKept(parts, messageId, stopping, () => store.write(() => store.inbox.end(n, "done")));
  return "over";
}
