/** One turn, from the moment its lane is free to its end on disk: model and tools, events, time limit, and what is kept. */
import { type Clock, type Logger, SvcError, type TurnEvent } from "@svc/contract";
import type { Instruments } from "@svc/kernel";
import type { OpenTurn, PartialAnswer, SentFile, Store } from "@svc/store";
import type { Attachments } from "../attachments/attachments.ts";
import { questionWith } from "../attachments/question.ts";
import type { AgentModels } from "../models/agent-models.ts";
import { modelName } from "../models/open-model.ts";
import type { Budget } from "../money/budget.ts";
import { Meter } from "../money/meter.ts";
import type { Spending } from "../money/spending.ts";
import type { AgentProfile } from "../profiles.ts";
import type { AbandonedTurn, AskPerson, TurnRequest, TurnResult } from "../types.ts";
import type { CoreTool } from "../tools/core-tool-context.ts";
import { type ActiveTurn, REMOVED } from "./active-turns.ts";
import type { Conversation } from "./history.ts";
import type { BadEnd, EndedTurn, TurnKeeper } from "./keep-turn.ts";
import { AnswerCheckpoints } from "./answer-checkpoints.ts";
import { Grants } from "./grants.ts";
import { KeptSteps } from "./kept-steps.ts";
import { noteMissing, offered, onlyOffered } from "./offered-tools.ts";
import type { Redaction } from "./redacted-stream.ts";
import { type EmitTurnEvent, runTurn, type TurnProgress } from "./turn.ts";
import { watchedTurn } from "./watched-turn.ts";

export interface TurnDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly instruments: Instruments;
  readonly models: AgentModels;
  readonly budget: Budget;
  readonly spending: Spending;
  readonly keeper: TurnKeeper;
  readonly redaction: Redaction;
  readonly attachments: Attachments | undefined;
  /** Told every event of every turn. */
  readonly publish: ((event: TurnEvent) => void) | undefined;
  /** Whether somebody reads what is published now. */
  readonly isListened: (() => boolean) | undefined;
  /** Asks a person where the request brings nobody. */
  readonly ask: AskPerson | undefined;
  /** The agent as it is now; undefined when a reload has removed it. */
  readonly profileOf: (name: string) => AgentProfile | undefined;
}

export function wholeTurn(
  deps: TurnDeps,
  turn: ActiveTurn,
  profile: AgentProfile,
  conversation: Conversation,
): Promise<TurnResult> {
  const { instruments, redaction } = deps;
  const model = modelName(profile.model);
  const meter = new Meter(profile.model, (usd) => deps.budget.spend(turn.agent, usd), turn.request.channel);
  const seen = { instruments, turn, model, meter, sessionId: conversation.name, redact: redaction.redact };
  return watchedTurn(seen, () => toItsEnd(deps, turn, { profile, conversation, model, meter }));
}

interface TurnParts {
  readonly profile: AgentProfile;
  readonly conversation: Conversation;
  readonly model: string;
  readonly meter: Meter;
}

async function toItsEnd(deps: TurnDeps, turn: ActiveTurn, parts: TurnParts): Promise<TurnResult> {
  const { store, clock, keeper } = deps;
  const { profile, conversation, model, meter } = parts;
  const { request, limit, id: turnId, agent } = turn;
  const { files } = turn;
  const progress = begun(turnId, [questionWith(request.text, files)], meter);
  const spent = () => deps.spending.toRecordPart(profile, meter);
  const steps = new KeptSteps({ store, turnId, spent, toolOf: toolsOf(profile) });
  const ended = { request, files, conversation, progress, profile, steps };
  const checkpoints = new AnswerCheckpoints({ store, clock, turnId, partial: () => progress.partial });
  const sessionId = conversation.name;
  const of = { turnId, sessionId, conversationId: conversation.id, owner: turn.owner };
  const emit: EmitTurnEvent = (told) => {
    const event = { ...told, ...of } as TurnEvent;
    if (!turn.holds(event)) tellTurn(deps, turn, event);
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
      if (turn.storing !== undefined) checkpoints.changed();
    };
    if (files.length > 0) await hear(deps, turn, progress);
    const response = await answerOf(deps, ended, { turn, emit, onPartial });
    await request.beforeEnd?.({ response });
    turn.close();
    turn.place?.giveUp();
    await keeper.keep(ended, request.alongside && (() => request.alongside?.({ response })));
    ok = true;
    return { turnId, agent, response, model, sessionId, ...usedOf(meter) };
  } catch (error) {
    const cause = turn.fail(error);
    const failure = cause instanceof SvcError ? cause : new SvcError("TURN_FAILED", undefined, { cause });
    await keeper.keepFailed(ended, failure);
    throw failure;
  } finally {
    checkpoints.end();
    const durationMs = clock.monotonic() - startedAt;
    // It is told that the message is on disk before it is told that the turn has ended.
    await turn.storing?.catch(() => {});
    emit({ type: "turn-end", agent, ok, model, durationMs, ...usedOf(meter) });
  }
}

/** The model is told what is said in recordings that the message came with. A slow service holds up no other turn. */
async function hear({ attachments }: TurnDeps, turn: ActiveTurn, progress: TurnProgress): Promise<void> {
  const { request, files, limit, place } = turn;
  if (!attachments?.hears(files)) return;
  const listen = () => attachments.transcripts(files, limit.signal);
  const transcripts = await (place ? place.lend(listen, limit.signal) : listen());
  progress.messages = [questionWith(request.text, files, transcripts)];
}

/** The message is on disk by itself, and its turn has not begun: it was stopped while it waited, or could not begin. */
export async function endUnstarted(
  deps: TurnDeps,
  turn: ActiveTurn,
  { profile, conversation, error }: Pick<AbandonedParts, "profile" | "conversation"> & { readonly error: SvcError },
): Promise<void> {
  const { request, files, id } = turn;
  const progress = begun(id, [questionWith(request.text, files)], new Meter(profile.model, () => {}));
  await deps.keeper.keepFailed({ request, files, conversation, progress, profile, steps: undefined }, error);
}

/** To the one who asked, and to all who read along. */
export function tellTurn({ publish }: Pick<TurnDeps, "publish">, { request }: ActiveTurn, event: TurnEvent): void {
  request.onEvent?.(event);
  publish?.(event);
}

export interface AbandonedParts extends Pick<AbandonedTurn, "turnId" | "alongside" | "message"> {
  readonly profile: AgentProfile;
  readonly conversation: Conversation;
  readonly error: SvcError | undefined;
}

/** Ends a turn of a channel that is nowhere but on disk. */
export async function abandonTurn(deps: TurnDeps, abandoned: AbandonedParts): Promise<void> {
  const { turnId, message, error, alongside } = abandoned;
  const request = { resumable: true, ...(message?.author && { author: message.author }) } as const;
  const turn = onDisk(deps, abandoned, { turnId, request });
  const isKept = error?.cause !== REMOVED;
  await deps.keeper.abandon(turn, {
    alongside,
    ...(isKept && message && { text: message.text }),
    ...(isKept && { end: deps.keeper.endOf(error ?? new SvcError("TURN_CANCELLED")) }),
  });
}

/** Ends a turn that a killed process has left: what was said, done and answered stays, marked as failed. */
export async function recoverTurn(
  deps: TurnDeps,
  open: OpenTurn,
  parts: Pick<AbandonedParts, "profile" | "conversation">,
): Promise<void> {
  const { turnId, text, meta, partial } = open;
  const request = { ...(meta?.author && { author: meta.author }), ...(meta?.kind && { kind: meta.kind }) };
  const turn = onDisk(deps, parts, { turnId, request, partial, files: meta?.files ?? [] });
  const end: BadEnd = deps.keeper.endOf(new SvcError("TURN_INTERRUPTED"));
  await deps.keeper.abandon(turn, { text, end, alongside: () => {} });
}

interface LeftTurn {
  readonly turnId: string;
  readonly request: Pick<TurnRequest, "author" | "kind" | "resumable">;
  readonly partial?: PartialAnswer | undefined;
  readonly files?: readonly SentFile[];
}

function onDisk(
  { store }: TurnDeps,
  { profile, conversation }: Pick<AbandonedParts, "profile" | "conversation">,
  { turnId, request, partial, files = [] }: LeftTurn,
): EndedTurn & { readonly steps: KeptSteps } {
  // What it cost is recorded already.
  const progress = begun(turnId, [], new Meter(profile.model, () => {}));
  progress.partial = partial;
  const steps = new KeptSteps({ store, turnId, spent: () => undefined, toolOf: toolsOf(profile) });
  return { request, files, conversation, progress, profile, steps };
}

const begun = (id: string, messages: TurnProgress["messages"], meter: Meter): TurnProgress => ({
  id,
  messages,
  meter,
  acted: false,
  partial: undefined,
});

interface Answering {
  readonly turn: ActiveTurn;
  readonly emit: EmitTurnEvent;
  readonly onPartial: () => void;
}

async function answerOf(
  deps: TurnDeps,
  { conversation, progress, profile, steps }: EndedTurn,
  { turn, emit, onPartial }: Answering,
): Promise<string> {
  const { store, clock, instruments, redaction, budget, profileOf } = deps;
  const { name, model } = profile;
  const { tools, granted = [], ask = deps.ask } = turn.request;
  const settings = offered(await deps.models.settingsOf(profile), tools);
  turn.limit.signal.throwIfAborted();
  noteMissing(deps.log, profile, tools);
  return runTurn({
    turn,
    settings,
    environment: () => onlyOffered(profileOf(name)?.environment ?? toolless(), tools),
    ask,
    grants: granted.length > 0 ? new Grants(granted, store.toolCalls.of(progress.id)) : undefined,
    promptContext: (profileOf(name) ?? profile).promptContext?.() ?? "",
    history: conversation.messages,
    progress,
    steps,
    store,
    clock,
    instruments,
    redaction,
    emit,
    onPartial,
    isListened: turn.request.inPieces ? () => true : (deps.isListened ?? (() => false)),
    // Who lowers a limit is obeyed by turns that run; an agent that is gone keeps the limit it had.
    checkBudget: () => budget.check({ name, model, maxCostPerDay: (profileOf(name) ?? profile).maxCostPerDay }),
  });
}

const toolsOf =
  ({ environment }: AgentProfile) =>
  (name: string): CoreTool | undefined =>
    environment.tools.find((tool) => tool.name === name);

function toolless(): never {
  throw new SvcError("TOOL_REFUSED", "This agent is no longer in the config, so it can't use tools any more.");
}

const usedOf = ({ inputTokens, outputTokens, costUsd }: Meter) => ({ inputTokens, outputTokens, costUsd });
