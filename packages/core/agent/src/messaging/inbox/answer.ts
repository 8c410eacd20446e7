/**
 * One attempt to answer a message: its turn, and with the turn's end, in the same transaction, the end of the message and
 * what goes out for it.
 */
import { type Channel, isPostponed, SvcError } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/kernel";
import type { Delivery, NewDelivery } from "@svc/store";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
import type { AskPerson } from "../../types.ts";
import { restMs } from "../delivery/back-off.ts";
import { askerOf } from "./ask.ts";
import { answerRows, filesInstruction } from "./answer-rows.ts";
import type { Attempt } from "./attempt.ts";
import { endTurn } from "./end-turn.ts";
import { apologyFor, judge, STOPPED } from "./failure.ts";
import type { Attempted } from "./lane-options.ts";
import { incomingId, type InboxParts } from "./parts.ts";
import { questionOf } from "./question.ts";
import { Typing } from "./typing.ts";

/** Rejects with STORE_* while what became of the attempt can't be kept, and the message waits as it did. */
export async function answer(parts: InboxParts, attempt: Attempt, channel: Channel): Promise<Attempted> {
  const { inbound, message } = attempt;
  const typing = new Typing(() => parts.presence.showTyping(channel, inbound));
  if (message.attempts === 0) parts.presence.markRead(channel, inbound);
  try {
    await runTurn(parts, attempt, channel, askerOf(parts, attempt, typing));
    return "over";
  } catch (error) {
    return await failed(parts, attempt, asSvcError(error));
  } finally {
    typing.end();
  }
}

async function runTurn(
  parts: InboxParts,
  attempt: Attempt,
  channel: Channel,
  ask: AskPerson | undefined,
): Promise<void> {
  const { store, agent, clock, identity, dispatcher, workspaceOf } = parts;
  const { message, inbound, signal } = attempt;
  const { n, lane, turnId } = message;
  const name = parts.settings().agentOf(message.channel);
  const text = await questionOf(parts, attempt, channel);
  const instructions = filesInstruction(channel);
  const about = { conversation: inbound.conversation, replyData: inbound.replyData, turnId };
  let rows: readonly NewDelivery[] | undefined;
  let deliveries: readonly Delivery[] = [];
  attempt.isTurn = true;
  await agent.run({
    clientId: identity.sender(message.channel, inbound.sender),
    owner: identity.channel(message.channel),
    session: lane,
    text,
    turnId,
    resumable: true,
    signal,
    ...(name !== undefined && { agent: name }),
    ...(ask && { ask }),
    ...(instructions !== undefined && { instructions }),
    async beforeEnd({ response }) {
      const agentName = name ?? DEFAULT_AGENT;
      const workspace = workspaceOf(agentName);
      rows = await answerRows({ channel, agent: agentName, workspace }, inbound, turnId, response);
    },
    alongside({ response }) {
      // Dropped while it was answered: nothing of the answer is kept.
      if (!store.inbox.end(n, "done")) throw new SvcError("MESSAGE_STATE");
      deliveries = store.outbox.add(
        rows ?? outgoingRows(channel, { ...about, text: response, files: [] }),
        clock.now(),
      );
    },
  });
  dispatcher.wake(deliveries);
}

async function failed(parts: InboxParts, attempt: Attempt, error: SvcError): Promise<Attempted> {
  const { store, log, random, settings } = parts;
  const { message, calledOff } = attempt;
  const { n, attempts } = message;
  const { inbox } = store;
  const { code } = error;
  if (calledOff === "shutdown" || isPostponed(error)) return over(store.write(() => inbox.calledOff(n)));
  if (calledOff === "drop" || code === "MESSAGE_STATE") return over(endTurn(parts, message, { note: () => undefined }));
  if (code === "TURN_CANCELLED") {
    // Whoever said /stop has an answer to that.
    const words = calledOff === "stop" ? undefined : STOPPED;
    return over(endTurn(parts, message, { note: () => (inbox.end(n, "done") ? words : undefined), error }));
  }
  const verdict = judge(error, message, settings().maxAttempts);
  log.warn("a message could not be answered", {
    messageId: incomingId(n),
    code,
    attempts: attempts + 1,
    verdict,
  });
  if (verdict === "again, not counted") return { restMs: restMs(2, error.retryAfterMs, random()) };
  if (verdict === "end") {
    const note = (): string | undefined => (inbox.end(n, "failed", code) ? apologyFor(code) : undefined);
    return over(endTurn(parts, message, { note, code }));
  }
  await store.write(() => inbox.failed(n, code));
  return { restMs: restMs(attempts + 1, error.retryAfterMs, random()) };
}

const over = async (ended: Promise<void>): Promise<Attempted> => {
  await ended;
  return "over";
};

function asSvcError(error: unknown): SvcError {
  return error instanceof SvcError ? error : new SvcError("TURN_FAILED", undefined, { cause: error });
}
