/**
 * `/stop`, said on a channel. It does not wait behind what it is to stop: the turn that runs is called off, and what waits
 * before it in the conversation is over without one.
 */
import type { Inbound } from "@svc/contract";
import type { Delivery } from "@svc/store";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
import type { Attempt } from "./attempt.ts";
import { endTurn } from "./end-turn.ts";
import type { InboxLanes } from "./lanes.ts";
import { incomingId } from "../message-id.ts";
import type { InboxParts } from "./parts.ts";
import { placeOf } from "./place-of.ts";
import { untilKept } from "./until-kept.ts";

export interface Around {
  readonly lanes: InboxLanes;
  readonly attempts: ReadonlyMap<number, Attempt>;
}

/** `n`: of the message that says so. Rejects only when the service stops before the end of it is on disk. */
export async function stopConversation(parts: InboxParts, { lanes, attempts }: Around, n: number): Promise<void> {
  const { store, clock, dispatcher, settings, stopping } = parts;
  const message = store.inbox.read(n);
  if (message?.state !== "waiting") return;
  const { lane, channel, turnId } = message;
  // What comes after it is answered after it.
  const release = lanes.hold(message);
  const before = lanes.take(lane, (waiting) => waiting.n < n);
  const current = [...attempts.values()].find((attempt) => attempt.message.lane === lane && attempt.message.n < n);
  const isStopped = current !== undefined && stop(parts, current);
  const { conversation, replyData } = message.body as unknown as Inbound;
  const text = isStopped || before.length > 0 ? "Stopped." : "Nothing was running.";
  const rows = outgoingRows(settings().channels.get(channel), { conversation, replyData, turnId, text, files: [] });
  let deliveries: readonly Delivery[] = [];
  const end = (): void => {
    deliveries = store.inbox.end(n, "done") ? store.outbox.add(rows, clock.now()) : [];
  };
  // First those before it: a kill in between leaves a /stop that finds the rest.
  try {
    for (const waiting of before) {
      const stopped = store.inbox.read(waiting.n);
      const note = (): undefined => void store.inbox.end(waiting.n, "done");
      if (stopped) await endTurn(parts, stopped, { note, keeps: true });
    }
    await untilKept(parts, incomingId(n), stopping, () => store.write(end));
    dispatcher.wake(deliveries);
  } finally {
    release();
  }
}

/** False: there is an answer already, and it is being kept. */
function stop(parts: InboxParts, attempt: Attempt): boolean {
  const { owner, session } = placeOf(parts, attempt.message);
  if (!attempt.isTurn) attempt.callOff("stop");
  else if (parts.agent.stop(owner, session, "/stop")) attempt.calledOff ??= "stop";
  else return false;
  return true;
}
