/** One turn, from the moment its conversation is free to its end on disk: loop, events, time limit, and what is stored. */
import { type Clock, type Json, type Logger, SvcError, type TurnEvent } from "@svc/contract";
import { type Tracer, watched, within } from "@svc/runtime";
import type { JournalledCall, OpenTurn, PartialAnswer, SentFile, Store, ToolCallRecord } from "@svc/store";
import type { Attachments } from "../attachments.ts";
import {
  type Conversation,
  assistantMessage,
  type History,
  questionWith,
  redactText,
  textOf,
  toolCallsOf,
  toolMessage,
  withUniqueCallIds,
} from "./history.ts";
import { type AgentModels, type TurnSettings, modelName } from "../models/agent-models.ts";
import { type Budget, Meter, type Spending } from "../cost.ts";
import type { AgentProfile } from "../profiles.ts";
import type { CoreTool, LimitedClient, ToolEnvironment } from "../tools/environment.ts";
import type { AbandonedTurn, AskPerson, TurnRequest, TurnResult } from "../types.ts";
import { type ActiveTurn, REMOVED, type TurnProgress } from "./active-turns.ts";
import { AnswerCheckpoints, type BadEnd, type EndedTurn, StepCheckpoints, type TurnStore } from "./turn-store.ts";
import { ModelStep, type ModelStepDeps, type Redaction } from "./model-call.ts";
import type { LanguageModelV4Message, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import { callTool } from "../tools/call-tool.ts";

export interface TurnExecutorDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly models: AgentModels;
  readonly budget: Budget;
  readonly limitedClient: LimitedClient;
  readonly spending: Spending;
  readonly turns: TurnStore;
  readonly history: History;
  readonly redaction: Redaction;
  readonly attachments: Attachments | undefined;
  /** Called with every event of every turn. */
  readonly publish: ((event: TurnEvent) => void) | undefined;
  /** Whether subscribers read what is published now. */
  readonly isListened: (() => boolean) | undefined;
  /** Asks a person if the request has no `ask` of its own. */
  readonly ask: AskPerson | undefined;
  /** The agent as it is now; undefined when a reload has removed it. */
  readonly profileOf: (name: string) => AgentProfile | undefined;
}

export interface AbandonedTurnFields extends Pick<AbandonedTurn, "turnId" | "inTransaction" | "message"> {
  readonly profile: AgentProfile;
  readonly conversation: Conversation;
  readonly error: SvcError | undefined;
}

export class TurnExecutor {
  readonly #deps: TurnExecutorDeps;

  constructor(deps: TurnExecutorDeps) {
    this.#deps = deps;
  }

  executeTurn(turn: ActiveTurn, profile: AgentProfile, conversation: Conversation): Promise<TurnResult> {
    const running = new RunningTurn(this.#deps, turn, profile, conversation);
    return running.leavesOurCode ? within({ turn: turn.id }, () => this.#traced(running)) : running.run();
  }

  #traced(running: RunningTurn): Promise<TurnResult> {
    const { tracer, redaction } = this.#deps;
    if (!tracer.isWatched) return running.run();
    const { model, turn, conversation } = running;
    const { id: turnId, agent, request } = turn;
    const { meter } = running.progress;
    const span = tracer.begin("turn", {
      turnId,
      sessionId: conversation.name,
      agent,
      model,
      channel: request.channel,
    });
    const run = (): Promise<TurnResult> => running.run();
    const recordedRun = async (): Promise<TurnResult> => {
      span.content("input", redaction.redact(request.text));
      const result = await run();
      span.content("output", redaction.redact(result.response));
      return result;
    };
    return watched(span, span.wantsContent ? recordedRun : run, (error) => ({ error, ...meter.since() }));
  }

  /** To the caller of the turn, and to all subscribers. */
  emit(turn: ActiveTurn, event: TurnEvent): void {
    publish(this.#deps, turn, event);
  }

  /** The message is on disk by itself, and its turn has not begun: it was stopped while it waited, or could not begin. */
  async endUnstarted(
    turn: ActiveTurn,
    {
      profile,
      conversation,
      error,
    }: Pick<AbandonedTurnFields, "profile" | "conversation"> & { readonly error: SvcError },
  ): Promise<void> {
    const { request, files, id } = turn;
    const progress = begun(id, [questionWith(request.text, files)], new Meter(profile.model, () => {}));
    await this.#deps.turns.keepFailed({ request, files, conversation, progress, profile, steps: undefined }, error);
  }

  /** Ends a turn of a channel that is only on disk. */
  async abandon(abandoned: AbandonedTurnFields): Promise<void> {
    const { turnId, message, error, inTransaction } = abandoned;
    const request = { resumable: true, ...(message?.author && { author: message.author }) } as const;
    const turn = this.#onDisk(abandoned, { turnId, request });
    const isKept = error?.cause !== REMOVED;
    const { turns } = this.#deps;
    await turns.abandon(turn, {
      inTransaction,
      ...(isKept && message && { text: message.text }),
      ...(isKept && { end: turns.endOf(error ?? new SvcError("TURN_CANCELLED")) }),
    });
  }

  /** Ends a turn that a killed process left: its message, actions and answer stay, marked as failed. */
  async recover(open: OpenTurn, running: Pick<AbandonedTurnFields, "profile" | "conversation">): Promise<void> {
    const { turns } = this.#deps;
    const { turnId, text, meta, partial } = open;
    const request = { ...(meta?.author && { author: meta.author }), ...(meta?.kind && { kind: meta.kind }) };
    const turn = this.#onDisk(running, { turnId, request, partial, files: meta?.files ?? [] });
    const end: BadEnd = turns.endOf(new SvcError("TURN_INTERRUPTED"));
    await turns.abandon(turn, { text, end, inTransaction: () => {} });
  }

  #onDisk(
    { profile, conversation }: Pick<AbandonedTurnFields, "profile" | "conversation">,
    { turnId, request, partial, files = [] }: LeftTurn,
  ): EndedTurn & { readonly steps: StepCheckpoints } {
    const { store } = this.#deps;
    // Its cost is recorded already.
    const progress = begun(turnId, [], new Meter(profile.model, () => {}));
    progress.partial = partial;
    const steps = new StepCheckpoints({ store, turnId, spent: () => undefined, toolOf: toolsOf(profile) });
    return { request, files, conversation, progress, profile, steps };
  }
}

interface LeftTurn {
  readonly turnId: string;
  readonly request: Pick<TurnRequest, "author" | "kind" | "resumable">;
  readonly partial?: PartialAnswer | undefined;
  readonly files?: readonly SentFile[];
}

const begun = (id: string, messages: TurnProgress["messages"], meter: Meter): TurnProgress => ({
  id,
  messages,
  meter,
  acted: false,
  partial: undefined,
});

const toolsOf =
  ({ environment }: AgentProfile) =>
  (name: string): CoreTool | undefined =>
    environment.tools.find((tool) => tool.name === name);

function toolless(): never {
  throw new SvcError("TOOL_REFUSED", "This agent is no longer in the config, so it can't use tools any more.");
}

// A turn that has only some tools of its agent: the model is offered no other, and its calls of others are refused.

/** Adds the tools that others of them need: nothing may drive that can't stop. */
export function withNeeded(
  only: readonly string[] | undefined,
  { toolPairs = [] }: Pick<AgentProfile, "toolPairs">,
): readonly string[] | undefined {
  if (!only) return undefined;
  const needed = toolPairs.filter(({ tool, beside }) => only.includes(beside) && !only.includes(tool));
  return [...only, ...needed.map(({ tool }) => tool)];
}

/** `only`: names; undefined for all. */
export function offered(settings: TurnSettings, only: readonly string[] | undefined): TurnSettings {
  if (!only) return settings;
  return { ...settings, functionTools: settings.functionTools.filter(({ name }) => only.includes(name)) };
}

export function onlyOffered(environment: ToolEnvironment, only: readonly string[] | undefined): ToolEnvironment {
  if (!only) return environment;
  const tools = environment.tools.filter(({ name }) => only.includes(name));
  return {
    ...environment,
    tools,
    find(name) {
      if (only.includes(name)) return environment.find(name);
      const has = tools.length === 0 ? "it has none" : `it has: ${tools.map((tool) => tool.name).join(", ")}`;
      throw new SvcError("TOOL_REFUSED", `This turn does not have this tool; ${has}.`);
    },
  };
}

/** A name without a tool is left out: it may be meant for another agent, or another build. */
function noteMissing(
  log: Logger,
  { name: agent, environment }: AgentProfile,
  only: readonly string[] | undefined,
): void {
  const missing = only?.filter((name) => !environment.tools.some((tool) => tool.name === name)) ?? [];
  if (missing.length > 0) {
    log.warn("a turn names tools that its agent does not have", { agent, tools: missing.join(", ") });
  }
}

function publish({ publish }: Pick<TurnExecutorDeps, "publish">, { request }: ActiveTurn, event: TurnEvent): void {
  request.onEvent?.(event);
  publish?.(event);
}

/**
 * A turn that runs: model ⇄ tools until there is an answer. It speaks the AI SDK's provider interface itself instead of calling
 * `generateText`, because every step must be on disk before the next one, a person may be asked in the middle, and the `ai` package would
 * cost 16 MB and 110 ms (docs/decisions/0001). One object for each turn: a function for each thing that a step may ask for would cost
 * more than the step.
 */
class RunningTurn implements EndedTurn, ModelStepDeps {
  readonly turn: ActiveTurn;
  readonly profile: AgentProfile;
  readonly conversation: Conversation;
  /** Its name. */
  readonly model: string;
  readonly progress: TurnProgress;
  /** From the first call of a tool on, and of a turn that can be resumed. */
  steps: StepCheckpoints | undefined;
  settings!: TurnSettings;
  promptContext = "";
  readonly #deps: TurnExecutorDeps;
  #tools: readonly string[] | undefined;
  #grants: Grants | undefined;
  #checkpoints: AnswerCheckpoints | undefined;

  constructor(deps: TurnExecutorDeps, turn: ActiveTurn, profile: AgentProfile, conversation: Conversation) {
    const { budget, limitedClient } = deps;
    const { channel, clientId, text } = turn.request;
    const client = limitedClient(clientId);
    this.#deps = deps;
    this.turn = turn;
    this.profile = profile;
    this.conversation = conversation;
    this.model = modelName(profile.model);
    const meter = new Meter(profile.model, (usd) => budget.spend(turn.agent, client, usd), { channel, client });
    this.progress = begun(turn.id, [questionWith(text, turn.files)], meter);
    this.steps = turn.request.resumable ? this.#newSteps() : undefined;
  }

  get request(): TurnRequest {
    return this.turn.request;
  }

  get files(): readonly SentFile[] {
    return this.turn.files;
  }

  get clock(): Clock {
    return this.#deps.clock;
  }

  get tracer(): Tracer {
    return this.#deps.tracer;
  }

  get redaction(): Redaction {
    return this.#deps.redaction;
  }

  /**
   * Whether anything but our own code runs in it, apart from tools: what that logs and sends names the turn then. To enter a scope for
   * nothing would cost a plain turn 2 µs.
   */
  get leavesOurCode(): boolean {
    const { onBegin, onEvent, watch, beforeEnd } = this.request;
    const isCalledBack =
      onBegin !== undefined || onEvent !== undefined || watch !== undefined || beforeEnd !== undefined;
    return isCalledBack || this.profile.model.provider !== "builtin" || this.files.length > 0 || this.tracer.isWatched;
  }

  /** From the free conversation to the end on disk. */
  async run(): Promise<TurnResult> {
    const { turn, request, profile, model, progress } = this;
    const { clock, turns } = this.#deps;
    const { limit, id: turnId, agent } = turn;
    const { meter } = progress;
    const startedAt = clock.monotonic();
    turn.conversation = this.conversation;
    turn.progress = progress;
    turn.startedAt = clock.now();
    request.onBegin?.();
    this.emit({ type: "turn-start", agent, clientId: request.clientId });
    limit.start(profile.turn.timeoutMs);
    let ok = false;
    try {
      if (this.files.length > 0) await this.#transcribe();
      const response = await this.#answer();
      if (request.beforeEnd) await request.beforeEnd({ response });
      turn.close();
      turn.permit?.release();
      await turns.keep(this, request.inTransaction && (() => request.inTransaction?.({ response })));
      ok = true;
      const { inputTokens, outputTokens, costUsd } = meter;
      return { turnId, agent, response, model, sessionId: turn.name, inputTokens, outputTokens, costUsd };
    } catch (error) {
      const cause = turn.fail(error);
      const failure = cause instanceof SvcError ? cause : new SvcError("TURN_FAILED", undefined, { cause });
      await turns.keepFailed(this, failure);
      throw failure;
    } finally {
      this.#checkpoints?.end();
      const durationMs = clock.monotonic() - startedAt;
      // The event that the message is stored comes before the event that the turn has ended.
      try {
        await turn.storing;
      } catch {
        // The turn was stopped for it.
      }
      const { inputTokens, outputTokens, costUsd } = meter;
      this.emit({ type: "turn-end", agent, ok, model, durationMs, inputTokens, outputTokens, costUsd });
    }
  }

  /** Adds the transcripts of the recordings that the message came with. A slow service holds up no other turn. */
  async #transcribe(): Promise<void> {
    const { attachments } = this.#deps;
    const { request, files, limit, permit } = this.turn;
    if (!attachments?.hears(files)) return;
    const listen = () => attachments.transcripts(files, limit.signal);
    const transcripts = await (permit ? permit.whileReleased(listen, limit.signal) : listen());
    this.progress.messages = [questionWith(request.text, files, transcripts)];
  }

  /** Resolves with the answer; throws TURN_*, MODEL_*, COST_LIMIT, STORE_*. `progress` tells what happened until then. */
  async #answer(): Promise<string> {
    const { turn, profile, progress, request } = this;
    const { store, log, models, redaction, profileOf } = this.#deps;
    this.#tools = withNeeded(request.tools, profile);
    this.settings = offered(models.knownSettings(profile) ?? (await models.settingsOf(profile)), this.#tools);
    turn.limit.throwIfOver();
    noteMissing(log, profile, this.#tools);
    if (request.granted?.length) this.#grants = new Grants(request.granted, store.toolCalls.of(turn.id));
    this.promptContext = (profileOf(profile.name) ?? profile).promptContext?.() ?? "";
    const modelStep = new ModelStep(this);
    const { maxSteps } = this.settings;
    for (let step = this.steps ? await this.#resume(this.steps) : 0; step < maxSteps; step += 1) {
      const answer = withUniqueCallIds(await modelStep.ask(step), progress.messages, this.steps?.usedCallIds);
      const content = redactText(answer.content, redaction.redact);
      const calls = toolCallsOf(content);
      const text = textOf(content);
      if (calls.length === 0 && text.trim() === "")
        throw new SvcError("TURN_FAILED", "The model gave an empty answer.");
      progress.messages.push(assistantMessage(content));
      progress.partial = undefined;
      if (calls.length === 0) return text;
      this.steps ??= this.#newSteps();
      this.steps.answered(progress, content, answer);
      if (request.watch) await request.watch.pause(text);
      for (const call of calls) await within({ turn: turn.id }, () => this.#runCall(call, this.steps!));
    }
    throw new SvcError("TURN_STEP_LIMIT", undefined, { hint: "Raise agent.max_steps, or ask for less at once." });
  }

  #newSteps(): StepCheckpoints {
    const { store, spending } = this.#deps;
    const { profile, progress } = this;
    const spent = () => spending.toRecordPart(profile, progress.meter);
    return new StepCheckpoints({ store, turnId: progress.id, spent, toolOf: toolsOf(profile) });
  }

  /** Goes on where an earlier attempt was cut off. Resolves with the number of steps it had made. */
  async #resume(steps: StepCheckpoints): Promise<number> {
    const { progress, turn } = this;
    const { done, calls } = steps.resume(progress);
    for (const call of calls) {
      const result = steps.resultOf(call);
      if (result) progress.messages.push(result);
      else await within({ turn: turn.id }, () => this.#runCall(call, steps));
    }
    return done;
  }

  async #runCall(call: LanguageModelV4ToolCall, steps: StepCheckpoints): Promise<void> {
    const { progress, turn, request } = this;
    const { store, redaction } = this.#deps;
    const grants = this.#grants;
    await turn.storing;
    const id = { callId: call.toolCallId, tool: call.toolName };
    this.emit({ type: "tool-call", ...id });
    const outcome = await callTool(() => this.#environment(), {
      turnId: progress.id,
      callId: call.toolCallId,
      name: call.toolName,
      clientId: request.clientId,
      input: call.input,
      conversation:
        request.sender === undefined ? undefined : { owner: turn.owner, name: turn.name, sender: request.sender },
      ask: request.ask ?? this.#deps.ask,
      isGranted: grants && ((tool) => grants.take(tool, call.toolCallId)),
      signal: turn.limit.signal,
      redact: redaction.redact,
      beforeAsk: (record) => this.#storeQuestion(steps, record),
      pause: (wait) => turn.whileAsking(wait),
      alsoOnStart: (acting) => {
        steps.write();
        // From its first acting call on, a turn's idempotency key survives a crash.
        if (acting && request.claim) store.idempotency.keep(request.claim, progress.id, "running");
      },
      onStarted: (acting) => {
        steps.written();
        progress.acted ||= acting;
      },
    });
    const result = toolMessage(call, outcome.ok, outcome.output as Json);
    progress.messages.push(result);
    if (!outcome.journalled) steps.notStarted(result);
    const outcomeName = outcome.ok ? "done" : outcome.isRejected ? "rejected" : "failed";
    this.emit({ type: "tool-result", ...id, ok: outcome.ok, outcome: outcomeName });
  }

  /** A resumed turn finds the call, and asks by the same id: the person has one question, and one answer. */
  async #storeQuestion(steps: StepCheckpoints, call: ToolCallRecord): Promise<void> {
    const { store } = this.#deps;
    await store.write(() => {
      steps.write();
      store.toolCalls.ask(call);
    });
    steps.written();
  }

  /** The one in force now; throws when a reload has removed the agent. */
  #environment(): ToolEnvironment {
    return onlyOffered(this.#deps.profileOf(this.profile.name)?.environment ?? toolless(), this.#tools);
  }

  // What a step of the model asks for (`ModelStepDeps`).

  history(): readonly LanguageModelV4Message[] {
    return this.#deps.history.messagesOf(this.conversation);
  }

  emit(fields: Parameters<ModelStepDeps["emit"]>[0]): void {
    const { turn } = this;
    const { id: turnId, owner } = turn;
    const event = Object.assign(fields, {
      turnId,
      sessionId: this.conversation.name,
      conversationId: this.conversation.id,
      owner,
    }) as TurnEvent;
    if (!turn.holds(event)) publish(this.#deps, turn, event);
  }

  isListened(): boolean {
    return this.request.inPieces ?? this.#deps.isListened?.() ?? false;
  }

  /** A lower limit holds for running turns, too; an agent that is gone keeps the limit it had. */
  checkBudget(): void {
    const { profile, progress } = this;
    const { budget, profileOf } = this.#deps;
    const { name, model } = profile;
    const { maxCostPerDay, clientMaxCostPerDay } = profileOf(name) ?? profile;
    budget.check({ name, model, maxCostPerDay, clientMaxCostPerDay }, progress.meter.caller.client);
  }

  onPartial(): void {
    const { turn, progress } = this;
    const { store, clock } = this.#deps;
    if (turn.storing === undefined) return;
    this.#checkpoints ??= new AnswerCheckpoints({ store, clock, turnId: turn.id, partial: () => progress.partial });
    this.#checkpoints.changed();
  }
}

/** What a person approved before the turn: each of these tools may run once in it without a question. */
class Grants {
  readonly #left: Set<string>;
  /** Of the turn's earlier attempts. */
  readonly #earlier: readonly JournalledCall[];

  constructor(tools: readonly string[], earlier: readonly JournalledCall[]) {
    this.#left = new Set(tools);
    this.#earlier = earlier;
  }

  /**
   * Whether this call may use a grant, which is spent then. An earlier attempt may have spent it: any call of the tool that acted
   * counts, since the journal does not say why it was allowed.
   */
  take(tool: string, callId: string): boolean {
    const isSpent = this.#earlier.some((call) => call.tool === tool && call.acting && call.callId !== callId);
    return !isSpent && this.#left.delete(tool);
  }
}
