/** Turns on disk: their messages before anything acts, their checkpoints, and their ends. */
import type { LanguageModelV4Content, LanguageModelV4Message, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import { type Clock, type Logger, SvcError, type TurnEvent, turnFailure } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/config";
import type {
  JournalledCall,
  OpenTurn,
  PartialAnswer,
  SentFile,
  Store,
  TurnMeta,
  TurnProblem,
  TurnState,
  TurnStep,
} from "@svc/store";
import { isRefusedContent } from "../models/model-error.ts";
import { estimateTokens, modelName } from "../models/agent-models.ts";
import type { Spending, Unsettled } from "../cost.ts";
import type { AgentProfile } from "../profiles.ts";
import type { ReplyByHand, TurnRequest } from "../types.ts";
import { type ActiveTurn, type ActiveTurns, REMOVED, type TurnProgress } from "./active-turns.ts";
import {
  type Conversation,
  type History,
  INTERRUPTED,
  assistantMessage,
  cutOff,
  forModel,
  storableContent,
  questionWith,
  redactInputs,
  toolCallsOf,
  toolMessage,
  userMessage,
} from "./history.ts";
import type { Attachments } from "../attachments.ts";
import type { ModelAnswer } from "./model-call.ts";
import type { CoreTool } from "../tools/environment.ts";
import { asJson, jsonAs } from "@svc/kit";

export interface TurnStoreDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly history: History;
  readonly spending: Spending;
  /** Takes the configured secrets out of what is stored. */
  readonly redact: (text: string) => string;
}

/** A turn that has ended, as it is stored. */
export interface EndedTurn {
  readonly request: Pick<TurnRequest, "author" | "claim" | "kind" | "resumable" | "title">;
  /** What its message came with. */
  readonly files: readonly SentFile[];
  readonly conversation: Conversation;
  readonly progress: TurnProgress;
  /** The agent as it was when the turn began. */
  readonly profile: AgentProfile;
  /** Its checkpoints. */
  readonly steps: StepCheckpoints | undefined;
}

/** How it ended without a whole answer. */
export interface BadEnd {
  readonly state: Exclude<TurnState, "done">;
  readonly problem: TurnProblem;
  /** See `TurnMeta`. */
  readonly refused?: boolean;
}

/**
 * The end of a turn: with its idempotency key and what it cost, in one transaction. A turn that was stopped or failed keeps its
 * message and what came of the answer; only the removal of its conversation leaves nothing.
 */
export class TurnStore {
  readonly #deps: TurnStoreDeps;

  constructor(deps: TurnStoreDeps) {
    this.#deps = deps;
  }

  /** The turn, its idempotency key and its cost, on disk together before the caller is answered. */
  keep(turn: EndedTurn, inTransaction?: () => void): Promise<void> {
    return this.#keep(turn, undefined, inTransaction);
  }

  async #keep(turn: EndedTurn, end: BadEnd | undefined, inTransaction?: () => void): Promise<void> {
    const { store, clock, history, spending, redact } = this.#deps;
    const { request, conversation, progress, profile, steps } = turn;
    const { claim } = request;
    const { meter } = progress;
    const { state } = end ?? { state: "done" };
    const messages = asJson(redactInputs(progress.messages, redact));
    const meta = metaOf(turn, end);
    const shown = forModel({ state, messages, meta });
    const tokens = tokensOf(shown);
    const messagesJson = JSON.stringify(messages);
    const spent = spending.toRecord(profile, meter);
    const write = store.write(() => {
      const storedTurn = store.sessions.append(conversation, conversation.place, {
        id: progress.id,
        at: clock.now(),
        model: modelName(profile.model),
        messages,
        messagesJson,
        tokens,
        inputTokens: meter.inputTokens,
        outputTokens: meter.outputTokens,
        costUsd: meter.costUsd,
        state,
        meta,
        title: request.title,
      });
      // A failed turn in which nothing acted may be sent again with the same key.
      if (claim && (state === "done" || progress.acted)) store.idempotency.keep(claim, progress.id, "done");
      if (!request.resumable) store.openTurns.remove(progress.id);
      spent?.write();
      steps?.drop();
      inTransaction?.();
      return storedTurn;
    });
    progress.ending = write;
    const place = await write;
    spent?.settle();
    if (claim) store.idempotency.release(claim);
    const text = (shown as unknown) === messages ? messagesJson : JSON.stringify(shown);
    history.append(conversation, place, { messages: shown, text, tokens });
  }

  /**
   * A turn that has no whole answer. One that will be taken up again has left its steps. What the disk refuses is found by the
   * next start, which keeps it then.
   */
  async keepFailed(turn: EndedTurn, error: SvcError): Promise<void> {
    const { store, log, history, spending } = this.#deps;
    const { request, conversation, progress, profile } = turn;
    const notKept = (what: string) => (error: unknown) =>
      log.error(`${what} could not be kept`, { turn: progress.id, error: String(error) });
    if (request.resumable) {
      await spending.recordAttempt(profile, progress.meter).catch(notKept("the cost of a failed attempt"));
    } else if (error.cause === REMOVED) {
      await this.#forget(turn).catch(notKept("the cost of a failed turn"));
    } else {
      progress.messages = cutOff(progress.messages, progress.partial?.text ?? "");
      await this.#keep(turn, this.endOf(error)).catch((error: unknown) => {
        history.forget(conversation);
        notKept("a failed turn")(error);
      });
    }
    if (request.claim) store.idempotency.release(request.claim);
  }

  async #forget({ progress, profile, steps }: EndedTurn): Promise<void> {
    const { store, spending } = this.#deps;
    const spent = spending.toRecord(profile, progress.meter);
    progress.ending = store.write(() => {
      store.openTurns.remove(progress.id);
      steps?.drop();
      spent?.write();
    });
    await progress.ending;
    spent?.settle();
  }

  /**
   * A turn that is on disk and is not resumed. `end`: it stays in the conversation if anything acted in it, or if
   * `text`, its message, is given; undefined: nothing of it stays. Rejects with STORE_*, and then nothing has changed.
   */
  async abandon(
    turn: EndedTurn & { readonly steps: StepCheckpoints },
    { text, end, inTransaction }: { readonly text?: string; readonly end?: BadEnd; readonly inTransaction: () => void },
  ): Promise<void> {
    const { store, spending } = this.#deps;
    const { request, progress, profile, steps } = turn;
    const { done, calls } = steps.resume(progress);
    for (const call of calls) {
      const result = steps.resultOf(call);
      if (result) progress.messages.push(result);
    }
    if (progress.messages.length === 0 && text !== undefined) progress.messages = [questionWith(text, turn.files)];
    if (end && (progress.acted || text !== undefined)) {
      const { partial } = progress;
      progress.messages = cutOff(progress.messages, partial && partial.step >= done ? partial.text : "");
      return this.#keep(turn, end, inTransaction);
    }
    const spent = spending.toRecord(profile, progress.meter);
    await store.write(() => {
      spent?.write();
      steps.drop();
      if (!request.resumable) store.openTurns.remove(progress.id);
      inTransaction();
    });
    spent?.settle();
  }

  /** Rejects with STORE_*, and then nothing has changed. */
  async keepByHand(
    conversation: Conversation,
    { turnId, asked, sender, text, author, inTransaction }: ReplyByHand,
  ): Promise<void> {
    const { store, clock, history } = this.#deps;
    const reply = { role: "assistant", content: [{ type: "text", text }] };
    const messages = asJson([...asked.map(userMessage), reply]);
    const meta: TurnMeta = { kind: "by_hand", author, sender };
    const shown = forModel({ state: "done", messages, meta });
    const tokens = tokensOf(shown);
    const used = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
    const place = await store.write(() => {
      const turn = { id: turnId, at: clock.now(), model: "", messages, tokens, ...used, meta };
      const storedTurn = store.sessions.append(conversation, conversation.place, turn);
      inTransaction();
      return storedTurn;
    });
    history.append(conversation, place, { messages: shown, text: JSON.stringify(shown), tokens });
  }

  /** In words for people. */
  endOf(error: SvcError): BadEnd {
    const { redact } = this.#deps;
    const { code, message, fix, said } = turnFailure(error);
    const isStopped = code === "TURN_CANCELLED";
    const problem: TurnProblem = {
      code,
      reason: redact(message),
      ...(!isStopped && { fix: redact(fix) }),
      ...(said !== undefined && { said: redact(said) }),
    };
    return { state: isStopped ? "stopped" : "failed", problem, refused: isRefusedContent(error) };
  }
}

function metaOf({ request, files, progress, profile }: EndedTurn, end: BadEnd | undefined): TurnMeta | undefined {
  const meta: TurnMeta = {
    ...(request.author && { author: request.author }),
    ...(request.kind && { kind: request.kind }),
    ...(files.length > 0 && { files }),
    ...(profile.name !== DEFAULT_AGENT && { agent: profile.name }),
    ...(end && progress.acted && { acted: true }),
    ...(end && { problem: end.problem }),
    // What it did before has to be told, and was not refused.
    ...(end?.refused && progress.messages.length === 1 && { refused: true as const }),
  };
  return Object.keys(meta).length > 0 ? meta : undefined;
}

function tokensOf(messages: readonly LanguageModelV4Message[]): number {
  const [question, answer] = messages;
  // The common turn, one text each way, without serialising it a second time.
  if (messages.length === 2 && question && answer) return textTokens(question) + textTokens(answer);
  return estimateTokens(JSON.stringify(messages));
}

function textTokens(message: LanguageModelV4Message): number {
  const part = message.content[0];
  if (typeof part === "object" && message.content.length === 1 && part.type === "text")
    return estimateTokens(part.text);
  return estimateTokens(JSON.stringify(message));
}

interface SentMessagesDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly publish: ((event: TurnEvent) => void) | undefined;
  readonly executor: {
    emit(turn: ActiveTurn, event: TurnEvent): void;
    recover(open: OpenTurn, at: { readonly profile: AgentProfile; readonly conversation: Conversation }): Promise<void>;
  };
  readonly active: Pick<ActiveTurns, "count">;
  readonly history: History;
  readonly attachments: Attachments | undefined;
}

/** Turns of a conversation since a message failed that is replayed. */
const REPLACEABLE = 100;

/**
 * Messages on disk before anything of their turns is published or done: a kill loses none that was accepted, and the next start
 * finds what a killed process has left.
 */
export class SentMessages {
  readonly #deps: SentMessagesDeps;
  #nextLoopTurn: Promise<void> | undefined;

  constructor(deps: SentMessagesDeps) {
    this.#deps = deps;
  }

  /** Resolves when the message is on disk. Rejects with STORE_*, and then nothing is kept and the turn is stopped. */
  async keep(turn: ActiveTurn, conversation: Conversation): Promise<void> {
    const { publish, executor, active } = this.#deps;
    const { id: turnId, owner, name, request } = turn;
    const { id: sessionId } = conversation;
    turn.hold();
    try {
      const placed = turn.hasFiles ? await this.#place(turn) : [];
      // A turn that has come to its end meanwhile keeps its message with it.
      await this.#loopTurn();
      await (turn.progress?.ending ?? this.#write(turn, conversation, placed));
      if (placed.length > 0) void this.#deps.attachments?.sent(placed);
    } catch (error) {
      turn.limit.stop(error as SvcError);
      throw error;
    }
    turn.storedIn = sessionId;
    const waits = active.count(turn.key) > 1;
    if (waits) publish?.({ type: "turn-store", turnId, sessionId: name, conversationId: sessionId, owner });
    request.onStored?.({ turnId, conversationId: sessionId, sessionId: name, waits });
    for (const event of turn.release()) executor.emit(turn, event);
  }

  /** The rest of this turn of the event loop: one promise for all messages that come in it. */
  #loopTurn(): Promise<void> {
    return (this.#nextLoopTurn ??= new Promise<void>((resolve) => {
      setImmediate(() => {
        this.#nextLoopTurn = undefined;
        resolve();
      });
    }));
  }

  /** Its files are in the workspace, and on disk, before its message is. Resolves with those that are new. */
  async #place(turn: ActiveTurn): Promise<SentFile[]> {
    const { files = [], filesAgain = [], clientId } = turn.request;
    const { attachments } = this.#deps;
    if (files.length > 0 && !attachments) throw new SvcError("FILE_UNKNOWN");
    const placed = (await attachments?.place(clientId, files, turn.agent)) ?? [];
    turn.files = [...filesAgain, ...placed];
    return placed;
  }

  async #write(turn: ActiveTurn, conversation: Conversation, placed: readonly SentFile[]): Promise<void> {
    const { store, history, attachments } = this.#deps;
    const { id: turnId, owner, name, agent, request, sentAt: at } = turn;
    const { author, kind, replaces } = request;
    const { id: sessionId, place } = conversation;
    const files = turn.files.length > 0 ? turn.files : undefined;
    const meta =
      (author ?? kind ?? files)
        ? { ...(author && { author }), ...(kind && { kind }), ...(files && { files }) }
        : undefined;
    const replaced = place && replaces !== undefined ? store.sessions.replaceable(place, replaces.turnId) : undefined;
    await store.write(() => {
      if (replaced !== undefined) store.sessions.replace(replaced);
      attachments?.send(placed, { owner, name, turnId });
      store.openTurns.add({ turnId, owner, name, sessionId, agent, at, text: request.text, meta });
    });
    if (replaced !== undefined) history.forget(conversation);
  }

  /** What an earlier attempt of the same turn has left in its conversation is told to no model beside this one. */
  async replace({ owner, name }: ActiveTurn, { turnId, sinceMs }: NonNullable<TurnRequest["replaces"]>): Promise<void> {
    const { store, history } = this.#deps;
    const place = store.sessions.find(owner, name);
    const row = place && store.sessions.replaceable(place, turnId, REPLACEABLE, sinceMs);
    if (row === undefined) return;
    await store.write(() => store.sessions.replace(row));
    history.forget({ clientId: owner, name });
  }

  /** See `Agent.recover`. */
  async recover(profileOf: (agent: string) => AgentProfile | undefined): Promise<void> {
    const { store, log, history, executor } = this.#deps;
    for (const open of store.openTurns.all()) {
      const { turnId, owner, name, sessionId, agent } = open;
      const profile = profileOf(agent);
      if (!profile) return;
      try {
        await executor.recover(open, { profile, conversation: history.open(owner, name, sessionId) });
      } catch (error) {
        history.forget({ clientId: owner, name });
        log.error("a turn that the last process left could not be kept", { turn: turnId, error: String(error) });
        return;
      }
    }
  }
}

// Checkpoints: what is on disk of a turn before its end. The steps of a turn that can be resumed: the model's answer is written before its
// first tool call starts, in the same transaction. The results are in the journal of tool calls; the result of a call that never started (a
// refusal) is with the step after it, or else the call could run without the model's knowledge.

type StepStore = Pick<Store, "steps" | "toolCalls">;

/** The first row of a turn: what the model was asked, word for word. */
interface KeptQuestion {
  readonly question: LanguageModelV4Message;
}

interface KeptStep {
  readonly question?: undefined;
  /** Of calls of the step before that never started. */
  readonly results: readonly LanguageModelV4Message[];
  readonly content: readonly LanguageModelV4Content[];
  /** The provider counted all tokens. */
  readonly isCounted: boolean;
}

/** Inside a transaction: a resumed turn asks in these words. For a question that costs something to make. */
export const keepQuestion = (store: Pick<Store, "steps">, turnId: string, text: string): void =>
  store.steps.add(turnId, questionStep(userMessage(text)));

const NO_CALLS: ReadonlyMap<string, JournalledCall> = new Map();

interface StepCheckpointsDeps {
  readonly store: StepStore;
  readonly turnId: string;
  /** What the turn has used and nobody has recorded. */
  readonly spent: () => Unsettled | undefined;
  /** Undefined when there is none of this name any more. */
  readonly toolOf: (name: string) => CoreTool | undefined;
}

export class StepCheckpoints {
  readonly #store: StepStore;
  readonly #turnId: string;
  readonly #spent: () => Unsettled | undefined;
  readonly #toolOf: (name: string) => CoreTool | undefined;
  #journal: ReadonlyMap<string, JournalledCall> = NO_CALLS;
  #unwritten: TurnStep[] = [];
  #results: LanguageModelV4Message[] = [];
  #cost: Unsettled | undefined;
  #isEmpty = true;

  constructor({ store, turnId, spent, toolOf }: StepCheckpointsDeps) {
    this.#store = store;
    this.#turnId = turnId;
    this.#spent = spent;
    this.#toolOf = toolOf;
  }

  /** Brings `progress` to where the last attempt ended. The calls of the last step, and how many steps there are. */
  resume(progress: TurnProgress): { readonly done: number; readonly calls: readonly LanguageModelV4ToolCall[] } {
    const rows = this.#store.steps.of(this.#turnId);
    this.#isEmpty = rows.length === 0;
    this.#journal = new Map(this.#store.toolCalls.of(this.#turnId).map((call) => [call.callId, call]));
    let calls: LanguageModelV4ToolCall[] = [];
    for (const { message, ...tokens } of rows) {
      const row = jsonAs<KeptQuestion | KeptStep>(message);
      if (row.question) {
        progress.messages = [row.question];
        continue;
      }
      const stored = new Map(row.results.map((result) => [callIdOf(result), result]));
      const results = calls.map((call) => stored.get(call.toolCallId) ?? this.resultOf(call) ?? unknown(call));
      progress.messages.push(...results, assistantMessage(row.content));
      progress.meter.restore(tokens, row.isCounted);
      calls = toolCallsOf(row.content);
      progress.acted ||= calls.some(({ toolCallId }) => this.#journal.get(toolCallId)?.acting === true);
    }
    return { done: Math.max(0, rows.length - 1), calls };
  }

  /**
   * What an earlier attempt has of a call; undefined: it is to be made. One that acts and was interrupted may have done
   * what it does, and is never made twice; only a tool that can tell is asked whether it has.
   */
  resultOf(call: LanguageModelV4ToolCall): LanguageModelV4Message | undefined {
    const known = this.#journal.get(call.toolCallId);
    if (known?.state === "finished") return toolMessage(call, true, known.output);
    if (known?.state === "failed") return toolMessage(call, false, known.output);
    if (known?.acting !== true) return undefined;
    const tool = this.#toolOf(call.toolName);
    if (!tool?.recall) return unknown(call);
    const recalled = tool.recall(this.#turnId, call.toolCallId);
    return recalled && toolMessage(call, true, recalled.output);
  }

  /** Ids that a further call must not have. A turn that failed and is run anew has a journal, and no steps. */
  get usedCallIds(): Iterable<string> {
    return this.#journal.keys();
  }

  /** The model wants tools called. */
  answered(progress: TurnProgress, content: readonly LanguageModelV4Content[], answer: ModelAnswer): void {
    const { inputTokens, outputTokens } = answer;
    if (this.#isEmpty && this.#unwritten.length === 0) this.#unwritten.push(questionStep(progress.messages[0]!));
    const isCounted = inputTokens !== undefined && outputTokens !== undefined;
    const step: KeptStep = { results: this.#results.splice(0), content: storableContent(content), isCounted };
    const message = asJson(step);
    this.#unwritten.push({ message, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 });
    this.#cost = this.#spent();
  }

  /** What came of a call that never started. */
  notStarted(result: LanguageModelV4Message): void {
    this.#results.push(result);
  }

  /** Inside the transaction in which a call starts. */
  write(): void {
    if (this.#unwritten.length === 0) return;
    for (const step of this.#unwritten) this.#store.steps.add(this.#turnId, step);
    this.#cost?.write();
  }

  /** That transaction is on disk. */
  written(): void {
    if (this.#unwritten.length === 0) return;
    this.#unwritten = [];
    this.#isEmpty = false;
    this.#cost?.settle();
  }

  /** Inside the transaction that ends the turn. */
  drop(): void {
    if (!this.#isEmpty) this.#store.steps.drop(this.#turnId);
  }
}

const questionStep = (question: LanguageModelV4Message): TurnStep => ({
  message: asJson({ question } satisfies KeptQuestion),
  inputTokens: 0,
  outputTokens: 0,
});

const unknown = (call: LanguageModelV4ToolCall): LanguageModelV4Message => toolMessage(call, false, INTERRUPTED);

function callIdOf({ content }: LanguageModelV4Message): string | undefined {
  const [part] = content;
  return typeof part === "object" && part.type === "tool-result" ? part.toolCallId : undefined;
}

const SAVE_MS = 200;

interface AnswerCheckpointsDeps {
  readonly store: Pick<Store, "openTurns" | "write">;
  readonly clock: Pick<Clock, "after">;
  readonly turnId: string;
  /** What has come so far; undefined: nothing that is not saved elsewhere. */
  readonly partial: () => PartialAnswer | undefined;
}

/** Saves the text of an answer while it comes. A kill loses at most the text since the last save, and no more than `SAVE_MS` of it. */
export class AnswerCheckpoints {
  readonly #deps: AnswerCheckpointsDeps;
  #cancel: (() => void) | undefined;
  #isSaving = false;
  #isOver = false;

  constructor(deps: AnswerCheckpointsDeps) {
    this.#deps = deps;
  }

  /** More has come. One save at a time is planned, or under way. */
  changed(): void {
    if (this.#isOver || this.#cancel || this.#isSaving) return;
    this.#cancel = this.#deps.clock.after(SAVE_MS, () => void this.#save());
  }

  /** The turn is over: whatever ends it writes its text. */
  end(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  async #save(): Promise<void> {
    const { store, turnId, partial } = this.#deps;
    this.#cancel = undefined;
    const saved = partial();
    if (this.#isOver || saved === undefined) return;
    this.#isSaving = true;
    // A full disk must not end an answer that is on its way; its end will meet the same disk.
    await store.write(() => store.openTurns.savePartial(turnId, saved)).catch(() => undefined);
    this.#isSaving = false;
    if (partial() !== saved) this.changed();
  }
}
