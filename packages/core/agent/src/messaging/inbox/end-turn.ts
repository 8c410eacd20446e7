/** The end of a message that gets no answer: its turn, what became of it and what its sender is told, in one transaction. */
import type { ErrorCode, Inbound, SvcError } from "@svc/contract";
import type { Delivery, InboxMessage } from "@svc/store";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
import { inPlaceOf } from "../writing/in-place-of.ts";
import { messageOver } from "./message-over.ts";
import { incomingId } from "../message-id.ts";
import type { InboxParts } from "./parts.ts";
import { placeOf } from "./place-of.ts";
import { untilKept } from "./until-kept.ts";

export interface UnansweredEnd {
  /** Inside the transaction: notes the end. What its sender is told; undefined: nothing, or it had ended before. */
  readonly note: () => string | undefined;
  /** Of one that failed. */
  readonly code?: ErrorCode;
  /** What its last attempt ended with. */
  readonly error?: SvcError;
  /** Its text stays in the conversation; without it only what acted does. */
  readonly keeps?: true;
  /** The platform's id of what its sender's word takes the place of. */
  readonly draft?: string;
}

/** Resolves once it is on disk. Rejects only when the service stops before that. */
export async function endTurn(
  parts: InboxParts,
  message: InboxMessage,
  { note, code, error, draft, keeps }: UnansweredEnd,
): Promise<void> {
  const { store, agent, clock, dispatcher, publish, settings, stopping } = parts;
  const { n, channel, turnId } = message;
  const { conversation, replyData, text: asked } = message.body as unknown as Inbound;
  const name = settings().agentOf(channel);
  let deliveries: readonly Delivery[] = [];
  const alongside = (): void => {
    const text = note();
    if (text === undefined) return void (deliveries = []);
    // Named, so that a message that is tried again, and fails again, has one word said to it.
    const keyOf = (part: number): string => `failed:${turnId}:${part}`;
    const saying = { conversation, replyData, turnId, text, files: [], keyOf };
    const rows = outgoingRows(settings().channels.get(channel), saying);
    deliveries = store.outbox.add(inPlaceOf(draft, rows), clock.now());
  };
  const { owner, session, author } = placeOf(parts, message);
  const more = { ...(name !== undefined && { agent: name }), ...(error && { error }) };
  const kept = keeps && { message: { text: asked, author } };
  const turn = { turnId, owner, session, alongside, ...more, ...kept };
  await untilKept(parts, incomingId(n), stopping, () => agent.abandon(turn));
  messageOver(parts, message, code ?? error?.code ?? "TURN_CANCELLED");
  dispatcher.wake(deliveries);
  if (code !== undefined && deliveries.length > 0) {
    publish({ type: "message-failed", messageId: incomingId(n), conversation, turnId, code });
  }
}
