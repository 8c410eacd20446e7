/**
 * A message that answers a question of ours. Its end, what it settles and what its sender is told are one transaction: a kill
 * leaves all of it or nothing, and what settles nothing any more is a message like any other.
 */
import type { Inbound } from "@svc/contract";
import type { Delivery, InboxMessage } from "@svc/store";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
import type { TakenReply } from "../types.ts";
import { messageOver } from "./message-over.ts";
import type { InboxParts } from "./parts.ts";

/**
 * Whether it seems to be one. A message whose turn has begun is none: what that turn asks must not be answered by the words
 * that made it ask.
 */
export function isReply({ store, replies }: InboxParts, { kind, body, receivedAtMs, turnId }: InboxMessage): boolean {
  if (!replies || kind !== "message") return false;
  return replies.takes(body as unknown as Inbound, receivedAtMs) && store.steps.of(turnId).length === 0;
}

/** Tells whether it was one; then the message is over. `isOurs`: inside the transaction. Rejects with STORE_*. */
export async function takeReply(parts: InboxParts, n: number, isOurs: () => boolean = () => true): Promise<boolean> {
  const { store, replies, dispatcher } = parts;
  let deliveries: readonly Delivery[] = [];
  const taken = await store.write(() => {
    deliveries = [];
    const message = store.inbox.read(n);
    if (message?.state !== "waiting" || !isOurs() || !isReply(parts, message)) return undefined;
    const reply = replies?.take(message.body as unknown as Inbound, message.receivedAtMs);
    if (!reply) return undefined;
    store.inbox.end(n, "done");
    deliveries = tell(parts, message, reply);
    return { reply, message };
  });
  if (!taken) return false;
  taken.reply.committed();
  messageOver(parts, taken.message);
  dispatcher.wake(deliveries);
  return true;
}

function tell({ store, clock, settings }: InboxParts, message: InboxMessage, { text }: TakenReply): Delivery[] {
  if (text === undefined) return [];
  const { channel, turnId } = message;
  const { conversation, replyData } = message.body as unknown as Inbound;
  const keyOf = (part: number): string => `reply:${turnId}:${part}`;
  const saying = { conversation, replyData, turnId, text, files: [], keyOf };
  return store.outbox.add(outgoingRows(settings().channels.get(channel), saying), clock.now());
}
