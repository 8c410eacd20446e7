/**
 * One attempt to answer a message: its turn, and with the turn's end, in the same transaction, the end of the message and
 * what goes out for it.
 */
import { type Channel, isPostponed, SvcError } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/kernel";
import type { Delivery, InboxMessage, NewDelivery } from "@svc/store";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
import type { AskPerson } from "../../types.ts";
import { retryDelayMs } from "../retry-delay.ts";
import { sessionIn } from "../session-message.ts";
import { type Writing, writingOf } from "../writing/writing.ts";
import { askerOf } from "./ask.ts";
import { type AnswerParts, answerRows, filesInstruction, spokenRows } from "./answer-rows.ts";
import type { Attempt } from "./attempt.ts";
import { endTurn } from "./end-turn.ts";
import { messageOver } from "./message-over.ts";
import { apologyFor, judge, STOPPED } from "./failure.ts";
import type { Attempted } from "./lane-options.ts";
import { incomingId } from "../message-id.ts";
import type { InboxParts } from "./parts.ts";
import { placeOf } from "./place-of.ts";
import { questionOf } from "./question.ts";
import { commandIn, runCommand } from "./run-command.ts";
import { Typing } from "./typing.ts";

/** Rejects with STORE_* while what became of the attempt can't be kept, and the message waits as it did. */
export async function answer(parts: InboxParts, attempt: Attempt, channel: Channel): Promise<Attempted> {
  const { inbound, message } = attempt;
  if (placeOf(parts, message).isGone) return over(endTurn(parts, message, { note: () => drop(parts, message) }));
  const command = commandIn(parts, attempt);
  if (command) return settled(parts, attempt, () => runCommand(parts, attempt, channel, command));
  const typing = new Typing(() => parts.presence.showTyping(channel, inbound));
  if (message.attempts === 0) parts.presence.markRead(channel, message);
  const source = (): AnswerParts => answerPartsOf(parts, channel, message.channel);
  const writing = writingOf(parts, attempt, channel, source);
  const ask = askerOf(parts, attempt, typing);
  try {
    return await settled(parts, attempt, () => runTurn(parts, attempt, { channel, source, writing, ask }), writing);
  } finally {
    typing.end();
  }
}

async function settled(
  parts: InboxParts,
  attempt: Attempt,
  work: () => Promise<void>,
  writing?: Writing,
): Promise<Attempted> {
  try {
    await work();
    messageOver(parts, attempt.message);
    return "over";
  } catch (error) {
    await writing?.end();
    return await failed(parts, attempt, asSvcError(error), writing?.draft);
  }
}

function answerPartsOf({ settings, workspaceOf }: InboxParts, channel: Channel, id: string): AnswerParts {
  const agent = settings().agentOf(id) ?? DEFAULT_AGENT;
  return { channel, agent, workspace: workspaceOf(agent) };
}

interface Turning {
  readonly channel: Channel;
  readonly source: () => AnswerParts;
  readonly writing: Writing | undefined;
  readonly ask: AskPerson | undefined;
}

async function runTurn(parts: InboxParts, attempt: Attempt, { channel, source, writing, ask }: Turning): Promise<void> {
  const { store, agent, clock, dispatcher, waits } = parts;
  const { message, inbound, signal } = attempt;
  const { n, turnId } = message;
  const { clientId, owner, session, author } = placeOf(parts, message);
  const name = parts.settings().agentOf(message.channel);
  const text = await questionOf(parts, attempt, channel);
  const instructions = filesInstruction(channel);
  const about = { conversation: inbound.conversation, replyData: inbound.replyData, turnId };
  let rows: readonly NewDelivery[] | undefined;
  let deliveries: readonly Delivery[] = [];
  attempt.isTurn = true;
  await agent.run({
    clientId,
    owner,
    session,
    text,
    author,
    // Callers without a token share what they ask by HTTP: nothing that one is allowed may hold for the next.
    ...(sessionIn(message.lane) === undefined && { sender: inbound.sender }),
    turnId,
    // One that failed and is replayed: what is kept of that is not told to the model beside this attempt.
    replaces: { turnId, sinceMs: message.receivedAtMs },
    resumable: true,
    signal,
    onBegin: () => waits.end(n),
    // What somebody asked by HTTP without waiting came by no channel, though its answer goes out by one.
    ...(sessionIn(message.lane) === undefined && { channel: message.channel }),
    ...(name !== undefined && { agent: name }),
    ...(ask && { ask }),
    ...(instructions !== undefined && { instructions }),
    ...(writing && { watch: writing }),
    async beforeEnd({ response }) {
      const written = await (writing ? writing.rows(response) : answerRows(source(), inbound, turnId, response));
      rows = [...written, ...(await spokenRows(source(), parts.settings(), inbound, turnId, response))];
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

/** `draft`: what people see of the answer. Who stopped it keeps that; an apology takes its place. */
async function failed(
  parts: InboxParts,
  attempt: Attempt,
  error: SvcError,
  draft: string | undefined,
): Promise<Attempted> {
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
    return over(
      endTurn(parts, message, { note: () => (inbox.end(n, "done") ? words : undefined), error, keeps: true }),
    );
  }
  const verdict = judge(error, message, settings().maxAttempts);
  log.warn("a message could not be answered", {
    messageId: incomingId(n),
    code,
    attempts: attempts + 1,
    verdict,
  });
  if (verdict === "again, not counted") return { restMs: retryDelayMs(2, error.retryAfterMs, random()) };
  if (verdict === "end") {
    const note = (): string | undefined => (inbox.end(n, "failed", code) ? apologyFor(code, error) : undefined);
    const more = { code, error, keeps: true as const, ...(draft !== undefined && { draft }) };
    return over(endTurn(parts, message, { note, ...more }));
  }
  await store.write(() => inbox.failed(n, code));
  return { restMs: retryDelayMs(attempts + 1, error.retryAfterMs, random()) };
}

function drop({ store }: InboxParts, { n }: InboxMessage): undefined {
  store.inbox.end(n, "dropped");
}

const over = async (ended: Promise<void>): Promise<Attempted> => {
  await ended;
  return "over";
};

function asSvcError(error: unknown): SvcError {
  return error instanceof SvcError ? error : new SvcError("TURN_FAILED", undefined, { cause: error });
}
