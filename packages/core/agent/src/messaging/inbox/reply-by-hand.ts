/**
 * A person answers in the place of the model. It goes the way of the model's answers, only to the people who wrote in the
 * conversation; what waits there has its answer with it. Reply, messages and the line of the audit log are one transaction.
 */
import { type ClientId, type Conversation, type Inbound, SvcError } from "@svc/contract";
import { laneOf } from "@svc/kit";
import type { Author, Delivery } from "@svc/store";
import { newTurnId } from "@svc/store/turn-id";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
import { messageOver } from "./message-over.ts";
import type { InboxParts } from "./parts.ts";
import type { Around } from "./stop-conversation.ts";

export interface ByHand {
  /** Of the conversation. */
  readonly owner: ClientId;
  readonly conversation: Conversation;
  readonly text: string;
  readonly author: Author;
  /** For the audit log: what was said stays in the conversation. */
  readonly by: string;
}

export interface SaidByHand {
  readonly turnId: string;
  readonly deliveries: readonly Delivery[];
}

/** Throws CHANNEL_UNKNOWN, CHANNEL_CANNOT, TURN_RUNNING, STORE_*; then nothing is sent and nothing has changed. */
export async function replyByHand(
  parts: InboxParts,
  { lanes, attempts }: Around,
  { owner, conversation, text, author, by }: ByHand,
): Promise<SaidByHand> {
  const { store, agent, clock, dispatcher, settings } = parts;
  const session = laneOf(conversation);
  const channel = settings().channels.get(conversation.channel);
  if (!channel) throw new SvcError("CHANNEL_UNKNOWN");
  const newest = store.inbox.newestIn(session);
  if (newest?.channel !== conversation.channel) throw new SvcError("CHANNEL_CANNOT", NO_ADDRESS, { hint: SEND });
  if ([...attempts.values()].some(({ message }) => message.lane === session)) throw running();
  // What was asked of the model from here on waits for the reply.
  const release = lanes.hold({ lane: session, channel: conversation.channel });
  try {
    const waiting = store.inbox.waitingIn(session);
    if (waiting.some(({ turnId }) => store.steps.of(turnId).length > 0)) throw running();
    const turnId = newTurnId();
    const { conversation: where, replyData, sender } = newest.body as unknown as Inbound;
    const rows = outgoingRows(channel, { conversation: where, replyData, turnId, text, files: [] });
    if (rows.length === 0) throw new SvcError("BAD_BODY");
    const asked = waiting.map(({ body }) => (body as unknown as Inbound).text);
    let deliveries: readonly Delivery[] = [];
    const alongside = (): void => {
      for (const { n } of waiting) if (!store.inbox.end(n, "done")) throw running();
      deliveries = store.outbox.add(rows, clock.now());
      store.audit.add("reply_by_hand", {
        channel: conversation.channel,
        conversation: conversation.id,
        turn: turnId,
        by,
      });
    };
    await agent.replyByHand({ owner, session, turnId, asked, sender, text, author, alongside });
    const answered = new Set(waiting.map(({ n }) => n));
    lanes.take(session, ({ n }) => answered.has(n));
    for (const message of waiting) messageOver(parts, message);
    dispatcher.wake(deliveries);
    return { turnId, deliveries };
  } finally {
    release();
  }
}

const NO_ADDRESS = "Nothing that was written in this conversation is kept any more, so a reply has no address.";
const SEND = "Use svc send.";

const running = (): SvcError =>
  new SvcError("TURN_RUNNING", "The model is answering in this conversation.", { hint: "Stop it first, or wait." });
