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
import { type EmitTurnEvent, ModelStep, type ModelStepDeps, type Redaction } from "./model-call.ts";
import type { LanguageModelV4ToolCall } from "@ai-sdk/provider";
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

interface RunningTurn {
  readonly profile: AgentProfile;
  readonly conversation: Conversation;
  readonly model: string;
  readonly meter: Meter;
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

  /** Every line of the log in between names the turn. */
  executeTurn(turn: ActiveTurn, profile: AgentProfile, conversation: Conversation): Promise<TurnResult> {
    const { tracer, budget, limitedClient } = this.#deps;
    const model = modelName(profile.model);
    const { channel, clientId } = turn.request;
    const client = limitedClient(clientId);
    const meter = new Meter(profile.model, (usd) => budget.spend(turn.agent, client, usd), { channel, client });
    const running = { profile, conversation, model, meter };
    return within({ turn: turn.id }, () =>
      tracer.isWatched ? this.#tracedRun(turn, running) : this.#run(turn, running),
    );
  }

  #tracedRun(turn: ActiveTurn, running: RunningTurn): Promise<TurnResult> {
    const { tracer, redaction } = this.#deps;
    const { model, meter, conversation } = running;
    const { id: turnId, agent, request } = turn;
    const span = tracer.begin("turn", {
      turnId,
      sessionId: conversation.name,
      agent,
      model,
      channel: request.channel,
    });
    const run = (): Promise<TurnResult> => this.#run(turn, running);
    const recordedRun = async (): Promise<TurnResult> => {
      span.content("input", redaction.redact(request.text));
      const result = await run();
      span.content("output", redaction.redact(result.response));
      return result;
    };
    return watched(span, span.wantsContent ? recordedRun : run, (error) => ({ error, ...meter.since() }));
  }

  async #run(turn: ActiveTurn, running: RunningTurn): Promise<TurnResult> {
    const { store, clock, turns, spending } = this.#deps;
    const { profile, conversation, model, meter } = running;
    const { request, limit, id: turnId, agent } = turn;
    const { files } = turn;
    const progress = begun(turnId, [questionWith(request.text, files)], meter);
    const spent = () => spending.toRecordPart(profile, meter);
    const steps = new StepCheckpoints({ store, turnId, spent, toolOf: toolsOf(profile) });
    const ended = { request, files, conversation, progress, profile, steps };
    let checkpoints: AnswerCheckpoints | undefined;
    const sessionId = conversation.name;
    const of = { turnId, sessionId, conversationId: conversation.id, owner: turn.owner };
    const emit: EmitTurnEvent = (fields) => {
      const event = { ...fields, ...of } as TurnEvent;
      if (!turn.holds(event)) this.emit(turn, event);
    };
    const startedAt = clock.monotonic();
    turn.conversation = conversation;
    turn.progress = progress;
    turn.startedAt = clock.now();
    request.onBegin?.();
    emit({ type: "turn-start", agent, clientId: request.clientId });
    limit.start(profile.turn.timeoutMs);
    let ok = false;
    try {
      const onPartial = (): void => {
        if (turn.storing === undefined) return;
        checkpoints ??= new AnswerCheckpoints({ store, clock, turnId, partial: () => progress.partial });
        checkpoints.changed();
      };
      if (files.length > 0) await this.#transcribe(turn, progress);
      const response = await this.#answer(ended, { turn, emit, onPartial });
      await request.beforeEnd?.({ response });
      turn.close();
      turn.permit?.release();
      await turns.keep(ended, request.inTransaction && (() => request.inTransaction?.({ response })));
      ok = true;
      return { turnId, agent, response, model, sessionId, ...usedOf(meter) };
    } catch (error) {
      const cause = turn.fail(error);
      const failure = cause instanceof SvcError ? cause : new SvcError("TURN_FAILED", undefined, { cause });
      await turns.keepFailed(ended, failure);
      throw failure;
    } finally {
      checkpoints?.end();
      const durationMs = clock.monotonic() - startedAt;
      // The event that the message is stored comes before the event that the turn has ended.
      await turn.storing?.catch(() => {});
      emit({ type: "turn-end", agent, ok, model, durationMs, ...usedOf(meter) });
    }
  }

  async #answer(
    { conversation, progress, profile, steps }: EndedTurn,
    { turn, emit, onPartial }: Pick<TurnLoopDeps, "turn" | "emit" | "onPartial">,
  ): Promise<string> {
    const { store, clock, log, tracer, models, history, redaction, budget, profileOf, isListened } = this.#deps;
    const { name, model } = profile;
    const { granted = [], ask = this.#deps.ask } = turn.request;
    const tools = withNeeded(turn.request.tools, profile);
    const settings = offered(await models.settingsOf(profile), tools);
    turn.limit.signal.throwIfAborted();
    noteMissing(log, profile, tools);
    const loop = new TurnLoop({
      turn,
      settings,
      environment: () => onlyOffered(profileOf(name)?.environment ?? toolless(), tools),
      ask,
      grants: granted.length > 0 ? new Grants(granted, store.toolCalls.of(progress.id)) : undefined,
      promptContext: (profileOf(name) ?? profile).promptContext?.() ?? "",
      history: () => history.messagesOf(conversation),
      progress,
      steps,
      store,
      clock,
      tracer,
      redaction,
      emit,
      onPartial,
      isListened: turn.request.inPieces ? () => true : (isListened ?? (() => false)),
      // A lower limit holds for running turns, too; an agent that is gone keeps the limit it had.
      checkBudget() {
        const { maxCostPerDay, clientMaxCostPerDay } = profileOf(name) ?? profile;
        budget.check({ name, model, maxCostPerDay, clientMaxCostPerDay }, progress.meter.caller.client);
      },
    });
    return loop.run();
  }

  /** Adds the transcripts of the recordings that the message came with. A slow service holds up no other turn. */
  async #transcribe(turn: ActiveTurn, progress: TurnProgress): Promise<void> {
    const { attachments } = this.#deps;
    const { request, files, limit, permit } = turn;
    if (!attachments?.hears(files)) return;
    const listen = () => attachments.transcripts(files, limit.signal);
    const transcripts = await (permit ? permit.whileReleased(listen, limit.signal) : listen());
    progress.messages = [questionWith(request.text, files, transcripts)];
  }

  /** To the caller of the turn, and to all subscribers. */
  emit({ request }: ActiveTurn, event: TurnEvent): void {
    request.onEvent?.(event);
    this.#deps.publish?.(event);
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

const usedOf = ({ inputTokens, outputTokens, costUsd }: Meter) => ({ inputTokens, outputTokens, costUsd });

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

/**
 * The turn: model ⇄ tools until there is an answer. It speaks the AI SDK's provider interface itself instead of calling `generateText`,
 * because every step must be on disk before the next one, a person may be asked in the middle, and the `ai` package would cost 16 MB and
 * 110 ms (docs/decisions/0001).
 */
interface TurnLoopDeps extends ModelStepDeps {
  /** The one in force now; throws AGENT_UNKNOWN when a reload has removed the agent. */
  readonly environment: () => ToolEnvironment;
  readonly ask: AskPerson | undefined;
  readonly grants: Grants | undefined;
  /** Of a turn that can be resumed. */
  readonly steps: StepCheckpoints | undefined;
  readonly store: Store;
}

class TurnLoop {
  readonly #deps: TurnLoopDeps;
  readonly #model: ModelStep;

  constructor(deps: TurnLoopDeps) {
    this.#deps = deps;
    this.#model = new ModelStep(deps);
  }

  /** Resolves with the answer; throws TURN_*, MODEL_*, COST_LIMIT, STORE_*. `progress` tells what happened until then. */
  async run(): Promise<string> {
    const { progress, settings, redaction, turn, steps } = this.#deps;
    let step = steps !== undefined && turn.request.resumable === true ? await this.#resume(steps) : 0;
    for (; step < settings.maxSteps; step += 1) {
      const answer = withUniqueCallIds(await this.#model.ask(step), progress.messages, steps?.usedCallIds);
      const content = redactText(answer.content, redaction.redact);
      const calls = toolCallsOf(content);
      const text = textOf(content);
      if (calls.length === 0 && text.trim() === "")
        throw new SvcError("TURN_FAILED", "The model gave an empty answer.");
      progress.messages.push(assistantMessage(content));
      progress.partial = undefined;
      if (calls.length === 0) return text;
      steps?.answered(progress, content, answer);
      if (turn.request.watch) await turn.request.watch.pause(text);
      for (const call of calls) await this.#runCall(call);
    }
    throw new SvcError("TURN_STEP_LIMIT", undefined, { hint: "Raise agent.max_steps, or ask for less at once." });
  }

  /** Goes on where an earlier attempt was cut off. Resolves with the number of steps it had made. */
  async #resume(steps: StepCheckpoints): Promise<number> {
    const { progress } = this.#deps;
    const { done, calls } = steps.resume(progress);
    for (const call of calls) {
      const result = steps.resultOf(call);
      if (result) progress.messages.push(result);
      else await this.#runCall(call);
    }
    return done;
  }

  async #runCall(call: LanguageModelV4ToolCall): Promise<void> {
    const { progress, turn, steps, store, redaction, grants, emit, environment, ask } = this.#deps;
    const { request, limit } = turn;
    await turn.storing;
    const id = { callId: call.toolCallId, tool: call.toolName };
    emit({ type: "tool-call", ...id });
    const outcome = await callTool(environment, {
      turnId: progress.id,
      callId: call.toolCallId,
      name: call.toolName,
      clientId: request.clientId,
      input: call.input,
      conversation:
        request.sender === undefined ? undefined : { owner: turn.owner, name: turn.name, sender: request.sender },
      ask,
      isGranted: grants && ((tool) => grants.take(tool, call.toolCallId)),
      signal: limit.signal,
      redact: redaction.redact,
      beforeAsk: steps && ((record) => this.#storeQuestion(steps, record)),
      pause: (wait) => turn.whileAsking(wait),
      alsoOnStart: (acting) => {
        steps?.write();
        // From its first acting call on, a turn's idempotency key survives a crash.
        if (acting && request.claim) store.idempotency.keep(request.claim, progress.id, "running");
      },
      onStarted: (acting) => {
        steps?.written();
        progress.acted ||= acting;
      },
    });
    const result = toolMessage(call, outcome.ok, outcome.output as Json);
    progress.messages.push(result);
    if (!outcome.journalled) steps?.notStarted(result);
    const outcomeName = outcome.ok ? "done" : outcome.isRejected ? "rejected" : "failed";
    emit({ type: "tool-result", ...id, ok: outcome.ok, outcome: outcomeName });
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
