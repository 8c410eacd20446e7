/**
 * One attempt at a message: its turn and, in the same transaction as the turn's end, the end of the message and the outbox rows
 * of the answer. A message that gets no answer ends here, too.
 */
import {
  type Channel,
  type ClientId,
  type Clock,
  type ErrorCode,
  ERRORS,
  type FetchOptions,
  type FetchResult,
  type Inbound,
  isPostponed,
  type Logger,
  type MessageEvent,
  type ModelFailureReason,
  SvcError,
  type Workspace,
} from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/config";
import type { Tracer, Scope } from "@svc/runtime";
import { sessionIn, jsonAs } from "@svc/kit";
import { retryDelayMs, unlessAborted } from "@svc/kit/async";
import type { Author, Delivery, InboxMessage, NewDelivery, Store } from "@svc/store";
import {
  type Agent,
  type AskPerson,
  type Attempted,
  authorOfSender,
  type Command,
  commandOf,
  keepQuestion,
  mayPass,
  ModelError,
} from "@svc/agent";
import { type Attempt, BACKOFF, InboxSpans, incomingId } from "./attempt.ts";
import { incomingFiles, withMedia } from "./media/incoming-files.ts";
import type { AskPlace, ChannelIdentity, MessagingSettings, ReplyTaker } from "./types.ts";
import type { OutboxDispatcher } from "./outbox.ts";
import {
  answerRows,
  type AnswerTarget,
  filesInstruction,
  inPlaceOf,
  outgoingRows,
  spokenRows,
} from "./outgoing-rows.ts";
import { Presence, type Typing } from "./presence.ts";
import type { SpeechPermits } from "./speech/speech.ts";
import type { RunProgram } from "./speech/backends.ts";
import { Draft, DraftIds, type Streaming, type StreamingDeps, type TargetSource } from "./streaming.ts";
import { ParagraphSender } from "./paragraphs.ts";

export interface MessageDeps {
  readonly store: Pick<Store, "audit" | "inbox" | "outbox" | "steps" | "write" | "writable">;
  readonly agent: Pick<Agent, "run" | "command" | "abandon" | "replyByHand" | "stop" | "drain">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly identity: ChannelIdentity;
  /** Of an agent; undefined when there is no such agent. */
  readonly workspaceOf: (agent: string) => Workspace | undefined;
  /** The HTTP client for the speech services. */
  readonly fetch: (url: string, options?: FetchOptions) => Promise<FetchResult>;
  /** Runs the programs of [transcription] and [tts]. */
  readonly runProgram: RunProgram;
  readonly publish: (event: MessageEvent) => void;
  /** Takes messages that answer a question of ours. */
  readonly replies?: ReplyTaker;
  /** Who is asked about the acting calls of a turn. Default: the agent's own `ask`. */
  readonly askIn?: (where: AskPlace) => AskPerson;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random: () => number;
  readonly dispatcher: Pick<OutboxDispatcher, "wake" | "isIdle">;
  readonly transcriber: SpeechPermits;
  /** Those in force now. */
  readonly settings: () => MessagingSettings;
}

/** What the inbox adds. */
export interface ProcessorDeps extends MessageDeps {
  /** How many messages of a conversation wait behind the one that is being processed. */
  readonly waitingBehind: (key: string) => number;
  /** Aborted when a shutdown no longer waits. */
  readonly stopping: AbortSignal;
}

/** The end of a message that gets no answer. */
export interface UnansweredEnd {
  /** Inside the transaction: notes the end. The text for its sender; undefined: none, or the message had ended before. */
  readonly note: () => string | undefined;
  /** Of a message that failed. */
  readonly code?: ErrorCode;
  /** The error of its last attempt. */
  readonly error?: SvcError;
  /** Its text stays in the conversation; without it only what acted does. */
  readonly keeps?: true;
  /** The platform's id of the draft that the text for its sender replaces. */
  readonly draft?: string;
}

/** Whose turn the message's is, and in which session: of a channel's conversation, or of a caller of the HTTP API. */
interface MessagePlace {
  /** Who the tools see. */
  readonly clientId: ClientId;
  readonly owner: ClientId;
  readonly session: string;
  /** Who wrote it. */
  readonly author: Author;
  /** The access of its owner was revoked since it came in. */
  readonly isGone: boolean;
}

/** How often a disk that refused is asked again. */
const STORE_AGAIN_MS = 1_000;
const NAME_CHARS = 80;
const STOPPED = "This message will not be answered: its turn was stopped.";

export class MessageProcessor {
  readonly #deps: ProcessorDeps;
  readonly #presence: Presence;
  readonly #streaming: StreamingDeps;
  readonly #spans: InboxSpans;

  constructor(deps: ProcessorDeps) {
    this.#deps = deps;
    this.#presence = new Presence(deps);
    this.#streaming = { ...deps, drafts: new DraftIds(deps.store) };
    this.#spans = new InboxSpans(deps.tracer);
  }

  /** An attempt at a message begins. Its scope. */
  begin(message: InboxMessage): Scope {
    return this.#spans.begin(message);
  }

  /** The next process goes on with all of them. */
  stop(): void {
    this.#spans.stop();
  }

  /** Rejects with STORE_* while the result of the attempt can't be stored, and the message waits as it did. */
  async answer(attempt: Attempt, channel: Channel): Promise<Attempted> {
    const { inbound, message } = attempt;
    if (this.placeOf(message).isGone) {
      const note = (): undefined => void this.#deps.store.inbox.end(message.n, "dropped");
      return over(this.endTurn(message, { note }));
    }
    const command = this.#commandIn(attempt);
    if (command) return this.#settled(attempt, () => this.#runCommand(attempt, channel, command));
    const typing = this.#presence.type(channel, inbound);
    if (message.attempts === 0) this.#presence.markRead(channel, message);
    const target: TargetSource = () => this.#targetOf(channel, message.channel);
    const streaming = this.#streamingOf(attempt, channel, target);
    const ask = this.#askerOf(attempt, typing);
    try {
      const run = () => this.#runTurn(attempt, { channel, target, streaming, ask });
      return await this.#settled(attempt, run, streaming);
    } finally {
      typing.end();
    }
  }

  async #settled(attempt: Attempt, work: () => Promise<void>, streaming?: Streaming): Promise<Attempted> {
    try {
      await work();
      this.finish(attempt.message);
      return "over";
    } catch (error) {
      await streaming?.end();
      return await this.#failed(attempt, asSvcError(error), streaming?.draft);
    }
  }

  #targetOf(channel: Channel, id: string): AnswerTarget {
    const agent = this.#deps.settings().agentOf(id) ?? DEFAULT_AGENT;
    return { channel, agent, workspace: this.#deps.workspaceOf(agent) };
  }

  /** Undefined where the channel shows nothing. */
  #streamingOf(attempt: Attempt, channel: Channel, target: TargetSource): Streaming | undefined {
    const { drafts } = channel;
    if (!drafts) return undefined;
    if (drafts.mode === "multi_message") return new ParagraphSender(this.#streaming, attempt, target);
    return new Draft(this.#streaming, attempt, { channel, drafts, target });
  }

  async #runTurn(
    attempt: Attempt,
    {
      channel,
      target,
      streaming,
      ask,
    }: {
      readonly channel: Channel;
      readonly target: TargetSource;
      readonly streaming: Streaming | undefined;
      readonly ask: AskPerson | undefined;
    },
  ): Promise<void> {
    const { store, agent, clock, dispatcher, settings } = this.#deps;
    const { message, inbound, signal } = attempt;
    const { n, turnId } = message;
    const { clientId, owner, session, author } = this.placeOf(message);
    const name = settings().agentOf(message.channel);
    const text = await this.#questionOf(attempt, channel);
    const instructions = filesInstruction(channel);
    const about = { conversation: inbound.conversation, replyData: inbound.replyData, turnId };
    const isOfChannel = sessionIn(message.conversationKey) === undefined;
    let rows: readonly NewDelivery[] | undefined;
    let deliveries: readonly Delivery[] = [];
    attempt.isTurn = true;
    await agent.run({
      clientId,
      owner,
      session,
      text,
      author,
      // Callers without a token share an owner over HTTP: what one is allowed must not hold for the next.
      ...(isOfChannel && { sender: inbound.sender }),
      turnId,
      // A message that failed and is replayed: the model is not told of the failed attempt beside this one.
      replaces: { turnId, sinceMs: message.receivedAtMs },
      resumable: true,
      signal,
      onBegin: () => this.#spans.end(n),
      // An HTTP request that does not wait came by no channel, though its answer goes out by one.
      ...(isOfChannel && { channel: message.channel }),
      ...(name !== undefined && { agent: name }),
      ...(ask && { ask }),
      ...(instructions !== undefined && { instructions }),
      ...(streaming && { watch: streaming }),
      async beforeEnd({ response }) {
        const answer = await (streaming ? streaming.rows(response) : answerRows(target(), inbound, turnId, response));
        rows = [...answer, ...(await spokenRows(target(), settings(), inbound, turnId, response))];
      },
      inTransaction({ response }) {
        // Dropped while it was answered: nothing of the answer is stored.
        if (!store.inbox.end(n, "done")) throw new SvcError("MESSAGE_STATE");
        deliveries = store.outbox.add(
          rows ?? outgoingRows(channel, { ...about, text: response, files: [] }),
          clock.now(),
        );
      },
    });
    dispatcher.wake(deliveries);
  }

  /** `draft`: what people see of the answer. A person who stopped it keeps that; an apology takes its place. */
  async #failed(attempt: Attempt, error: SvcError, draft: string | undefined): Promise<Attempted> {
    const { store, log, random, settings } = this.#deps;
    const { message, calledOff } = attempt;
    const { n, attempts } = message;
    const { inbox } = store;
    const { code } = error;
    if (calledOff === "shutdown" || isPostponed(error)) return over(store.write(() => inbox.calledOff(n)));
    if (calledOff === "drop" || code === "MESSAGE_STATE") {
      return over(this.endTurn(message, { note: () => undefined }));
    }
    if (code === "TURN_CANCELLED") {
      // The sender of /stop gets an answer to that.
      const text = calledOff === "stop" ? undefined : STOPPED;
      const note = (): string | undefined => (inbox.end(n, "done") ? text : undefined);
      return over(this.endTurn(message, { note, error, keeps: true }));
    }
    const verdict = judge(error, message, settings().maxAttempts);
    log.warn("a message could not be answered", { messageId: incomingId(n), code, attempts: attempts + 1, verdict });
    if (verdict === "again, not counted")
      return { retryDelayMs: retryDelayMs(2, BACKOFF, { askedMs: error.retryAfterMs, random }) };
    if (verdict === "end") {
      const note = (): string | undefined => (inbox.end(n, "failed", code) ? apologyFor(code, error) : undefined);
      const more = { code, error, keeps: true as const, ...(draft !== undefined && { draft }) };
      return over(this.endTurn(message, { note, ...more }));
    }
    await store.write(() => inbox.failed(n, code));
    return { retryDelayMs: retryDelayMs(attempts + 1, BACKOFF, { askedMs: error.retryAfterMs, random }) };
  }

  /**
   * A message with a file is for the agent. So is a message whose turn has begun, because its actions need their end, and a
   * request over HTTP, whether its caller waits for the answer or not.
   */
  #commandIn({ inbound, message }: Attempt): Command | undefined {
    const command = commandOf(inbound.text);
    if (!command || sessionIn(message.conversationKey) || inbound.choice || (inbound.media ?? []).length > 0)
      return undefined;
    return this.#deps.store.steps.of(message.turnId).length === 0 ? command : undefined;
  }

  /**
   * The command and its answer, in one transaction that also ends the message. Rejects with STORE_*, AGENT_UNKNOWN, and with
   * MESSAGE_STATE when the message was dropped meanwhile; then nothing has changed.
   */
  async #runCommand({ inbound, message }: Attempt, channel: Channel, command: Command): Promise<void> {
    const { store, agent, clock, identity, dispatcher, settings, waitingBehind } = this.#deps;
    const { n, conversationKey, turnId } = message;
    const { conversation, replyData } = inbound;
    const name = settings().agentOf(message.channel);
    let deliveries: readonly Delivery[] = [];
    await agent.command({
      command,
      owner: identity.channel(message.channel),
      clientId: identity.sender(message.channel, inbound.sender),
      session: conversationKey,
      waiting: waitingBehind(conversationKey),
      ...(name !== undefined && { agent: name }),
      inTransaction(text) {
        if (!store.inbox.end(n, "done")) throw new SvcError("MESSAGE_STATE");
        const rows = outgoingRows(channel, { conversation, replyData, turnId, text, files: [] });
        deliveries = store.outbox.add(rows, clock.now());
      },
    });
    dispatcher.wake(deliveries);
  }

  /** What the model is asked: the text with its files in it and, in a group, its sender. Rejects with STORE_*, or if aborted. */
  async #questionOf({ message, inbound, signal, permit }: Attempt, channel: Channel): Promise<string> {
    const { store, settings, workspaceOf } = this.#deps;
    const { n, turnId, receivedAtMs, attempts } = message;
    const { media = [] } = inbound;
    // An earlier attempt has asked: the turn goes on with the words that are stored.
    if (media.length === 0 || store.steps.of(turnId).length > 0) return withSender(inbound, inbound.text);
    const { transcription, agentOf } = settings();
    const workspace = workspaceOf(agentOf(message.channel) ?? DEFAULT_AGENT);
    const { whileReleased } = permit;
    const about = { n, receivedAtMs, isAgain: attempts > 0, channel, workspace, transcription, signal, whileReleased };
    const placed = await incomingFiles(this.#deps, about, media);
    const text = withSender(inbound, withMedia(inbound.text, placed));
    // Files and transcripts cost time and money, and must be the same if another process resumes the turn.
    await store.write(() => keepQuestion(store, turnId, text));
    return text;
  }

  /** Undefined: the agent's own `ask` is used. */
  #askerOf(attempt: Attempt, typing: Typing): AskPerson | undefined {
    const { store, askIn } = this.#deps;
    const { n, turnId, conversationKey } = attempt.message;
    const { conversation, sender } = attempt.inbound;
    // A caller of the HTTP API can't answer a question.
    const ask = askIn?.({ conversation: sessionIn(conversationKey) ? undefined : conversation, turnId, sender });
    if (!ask) return undefined;
    return async (question, signal) => {
      // The wait takes minutes, in which the process may be stopped: that is no crash of this message, however often.
      await store.write(() => store.inbox.calledOff(n));
      try {
        const wait = () => unlessAborted(() => ask(question, signal), signal);
        return await typing.whileSilent(() => attempt.permit.whileAsking(wait));
      } finally {
        // If the turn goes on in the next process, the end of the attempt notes that.
        if (!isPostponed(signal.reason)) store.write(() => store.inbox.begin(n)).catch(() => undefined);
      }
    };
  }

  /**
   * Hands a notice to its channel: at least once, and as often as it takes. Rejects with STORE_* while the result can't be
   * stored, and the notice waits as it did.
   */
  async handOver(attempt: Attempt, channel: Channel): Promise<Attempted> {
    const { store, log, random } = this.#deps;
    const { signal, message } = attempt;
    const { n, body, attempts } = message;
    const messageId = incomingId(n);
    if (!channel.onNotice) {
      log.error("a channel keeps notices that it does not take", { messageId, channel: message.channel });
      await store.write(() => store.inbox.end(n, "failed", "CHANNEL_CANNOT"));
      return "over";
    }
    try {
      await unlessAborted(() => channel.onNotice?.(body, signal), signal);
    } catch (error) {
      if (attempt.calledOff === "shutdown") await store.write(() => store.inbox.calledOff(n));
      if (signal.aborted) return "over";
      const known = error instanceof SvcError ? error : undefined;
      const code = known?.code ?? "INTERNAL";
      const reason = known?.message ?? (error instanceof Error ? error.name : typeof error);
      log.warn("a notice could not be handled", { messageId, channel: message.channel, code, reason });
      await store.write(() => store.inbox.failed(n, code));
      return { retryDelayMs: retryDelayMs(attempts + 1, BACKOFF, { askedMs: known?.retryAfterMs, random }) };
    }
    await this.retryUntilStored(n, () => store.write(() => store.inbox.end(n, "done")));
    return "over";
  }

  /** It was dropped while it waited. If its turn had begun, the conversation remembers what acted in it. */
  async passOver(message: InboxMessage | undefined): Promise<Attempted> {
    const hasBegun = message?.kind === "message" && this.#deps.store.steps.of(message.turnId).length > 0;
    if (hasBegun) await this.endTurn(message, { note: () => undefined });
    else if (message) this.finish(message, "TURN_CANCELLED");
    return "over";
  }

  /** The process crashed at it again and again, and a start marked it `failed`. */
  async tellLost(message: InboxMessage): Promise<void> {
    const { store } = this.#deps;
    const { n, kind, draft, error: code = "TURN_CRASHED" } = message;
    if (kind !== "message") return store.write(() => store.inbox.notified(n));
    const note = (): string => {
      store.inbox.notified(n);
      return apologyFor(code);
    };
    const more = { code, error: new SvcError(code), keeps: true as const, ...(draft !== undefined && { draft }) };
    await this.endTurn(message, { note, ...more });
  }

  /**
   * Ends a message without an answer: its turn, its state and the text for its sender in one transaction. Resolves once it is
   * on disk. Rejects only when the service stops before that.
   */
  async endTurn(message: InboxMessage, { note, code, error, draft, keeps }: UnansweredEnd): Promise<void> {
    const { store, agent, clock, dispatcher, publish, settings } = this.#deps;
    const { n, channel, turnId } = message;
    const { conversation, replyData, text: asked } = jsonAs<Inbound>(message.body);
    const name = settings().agentOf(channel);
    let deliveries: readonly Delivery[] = [];
    const inTransaction = (): void => {
      const text = note();
      if (text === undefined) return void (deliveries = []);
      // With a key, so that a message that is tried again and fails again has one apology.
      const keyOf = (part: number): string => `failed:${turnId}:${part}`;
      const outgoing = { conversation, replyData, turnId, text, files: [], keyOf };
      const rows = outgoingRows(settings().channels.get(channel), outgoing);
      deliveries = store.outbox.add(inPlaceOf(draft, rows), clock.now());
    };
    const { owner, session, author } = this.placeOf(message);
    const more = { ...(name !== undefined && { agent: name }), ...(error && { error }) };
    const question = keeps && { message: { text: asked, author } };
    const turn = { turnId, owner, session, inTransaction, ...more, ...question };
    await this.retryUntilStored(n, () => agent.abandon(turn));
    this.finish(message, code ?? error?.code ?? "TURN_CANCELLED");
    dispatcher.wake(deliveries);
    if (code !== undefined && deliveries.length > 0) {
      publish({ type: "message-failed", messageId: incomingId(n), conversation, turnId, code });
    }
  }

  /** Called once the end of a message is on disk: removes what its sender saw of it. `error`: of one that got no answer. */
  finish(message: InboxMessage, error?: ErrorCode): void {
    this.#presence.clearMark(this.#deps.settings().channels.get(message.channel), message);
    this.#streaming.drafts.forget(message.n);
    this.#spans.over(message.n, error);
  }

  /**
   * Repeats `write` until the disk takes it, so that the end of message `n` is not lost because the disk was full for a moment.
   * Rejects when the service stops, and with an error that is not of the disk.
   */
  async retryUntilStored<T>(n: number, write: () => Promise<T>): Promise<T> {
    const { clock, log, stopping } = this.#deps;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof SvcError) || !error.code.startsWith("STORE_")) throw error;
        const messageId = incomingId(n);
        if (isFirst) log.error("what became of a message can't be kept yet", { messageId, code: error.code });
        await clock.sleep(STORE_AGAIN_MS, stopping);
      }
    }
  }

  placeOf({
    channel,
    conversationKey,
    turnId,
    body,
  }: Pick<InboxMessage, "channel" | "conversationKey" | "turnId" | "body">): MessagePlace {
    const { identity } = this.#deps;
    const { owner, session } = sessionIn(conversationKey) ?? {};
    const { sender } = jsonAs<Inbound>(body);
    if (owner !== undefined && session !== undefined) {
      return { session, author: authorOfSender(sender), ...identity.ofSession(owner, turnId) };
    }
    const clientId = identity.sender(channel, sender);
    const author: Author = { kind: "person", id: sender };
    return { clientId, owner: identity.channel(channel), session: conversationKey, author, isGone: false };
  }
}

const over = async (ended: Promise<void>): Promise<Attempted> => {
  await ended;
  return "over";
};

function asSvcError(error: unknown): SvcError {
  return error instanceof SvcError ? error : new SvcError("TURN_FAILED", undefined, { cause: error });
}

/** In a group, with the sender's name: on one line, so that no name can be read as another person's message. */
function withSender({ group, sender, senderName }: Inbound, text: string): string {
  if (!group) return text;
  const name = (senderName ?? "").replaceAll(/[\p{C}\p{Z}:]+/gu, " ").trim();
  return `${[...(name || sender)].slice(0, NAME_CHARS).join("")}: ${text}`;
}

type Verdict = "again, not counted" | "again" | "end";

/**
 * What a failed attempt leads to. `before`: the result of the attempts before this one.
 *
 *   again, not counted   STORE_*, BUSY: nothing was wrong with the message, and nothing was tried
 *   again                MODEL_UNREACHABLE, MODEL_REFUSED by a provider that is busy or in trouble: as often as a delivery
 *                        is tried, so that the message outlives what its answer would; TURN_FAILED once
 *   the end              everything else: a wrong key, a missing agent, a limit of steps, time or money would be the same
 *                        again, and cost the same
 */
function judge(error: SvcError, before: Pick<InboxMessage, "attempts" | "error">, maxAttempts: number): Verdict {
  const { code } = error;
  if (code === "BUSY" || code === "STORE_FULL" || code === "STORE_FAILED") return "again, not counted";
  if (code === "TURN_FAILED") return before.error === code ? "end" : "again";
  return mayPass(error) && before.attempts + 1 < maxAttempts ? "again" : "end";
}

/**
 * What the sender is told: the sentence of the code, or what a sender can do about the failure. An error's own message may be
 * about the set-up; that of a cost limit says only whose it is.
 */
function apologyFor(code: ErrorCode, error?: SvcError): string {
  const advice = error instanceof ModelError ? ADVICE[error.reason] : undefined;
  const sentence = code === "COST_LIMIT" && error ? error.message : ERRORS[code].sentence;
  return `Sorry, this message could not be answered: ${advice ?? `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`}`;
}

const BUSY = "the model provider is busy. Send it again in a few minutes.";
const ADVICE: Readonly<Partial<Record<ModelFailureReason, string>>> = {
  "rate-limited": BUSY,
  overloaded: BUSY,
  "context-full": "the conversation is too long for the model. Send /new to begin another one, then send it again.",
  "content-refused": "the model provider declined to answer it. Send it in other words.",
};
