/**
 * The turn: model ⇄ tools until there is an answer. It speaks the AI SDK's provider interface itself instead of calling
 * `generateText`, because every step must be on disk before the next one, a person may be asked in the middle, and the
 * `ai` package would cost 16 MB and 110 ms (docs/decisions/0001).
 */
import type { LanguageModelV4Message, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import { type Clock, type Json, SvcError, type TurnEvent } from "@svc/contract";
import type { Instruments } from "@svc/kernel";
import type { PartialAnswer, Store, ToolCallRecord } from "@svc/store";
import type { TurnSettings } from "../models/agent-models.ts";
import type { Meter } from "../money/meter.ts";
import { callTool } from "../tools/call-tool.ts";
import type { ToolEnvironment } from "../tools/environment.ts";
import type { AskPerson } from "../types.ts";
import type { ActiveTurn } from "./active-turns.ts";
import { askModel } from "./ask-model.ts";
import type { Grants } from "./grants.ts";
import type { KeptSteps } from "./kept-steps.ts";
import { assistantMessage, redactText, textOf, toolCallsOf, toolMessage, withUniqueCallIds } from "./messages.ts";
import type { Redaction } from "./redacted-stream.ts";

/** What a turn has done so far; complete even when it ends by an error. */
export interface TurnProgress {
  readonly id: string;
  /** The messages this turn adds to the conversation. */
  messages: LanguageModelV4Message[];
  readonly meter: Meter;
  /** An acting tool was started. */
  acted: boolean;
  /** What was told of an answer that is not in `messages` yet. */
  partial: PartialAnswer | undefined;
  /** The write that ends it, from when it was asked for. */
  ending?: Promise<unknown>;
}

/** Whose turn it is, is added to each. */
export type EmitTurnEvent = (event: WithoutTurn<TurnEvent>) => void;
type WithoutTurn<Event> = Event extends TurnEvent
  ? Omit<Event, "turnId" | "sessionId" | "conversationId" | "owner">
  : never;

export interface TurnRun {
  readonly turn: ActiveTurn;
  /** Kept for the whole turn, whatever a reload changes. */
  readonly settings: TurnSettings;
  /** The one in force now; throws AGENT_UNKNOWN when a reload has removed the agent. */
  readonly environment: () => ToolEnvironment;
  readonly ask: AskPerson | undefined;
  readonly grants: Grants | undefined;
  /** What features add to the system prompt, as it was when the turn began. */
  readonly promptContext: string;
  /** Messages of earlier turns. */
  readonly history: readonly LanguageModelV4Message[];
  readonly progress: TurnProgress;
  /** Of a turn that can be taken up again. */
  readonly steps: KeptSteps | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly instruments: Instruments;
  readonly redaction: Redaction;
  readonly emit: EmitTurnEvent;
  /** Whether somebody reads what is emitted now. */
  readonly isListened: () => boolean;
  /** Throws COST_LIMIT. */
  readonly checkBudget: () => void;
  /** `progress.partial` has grown. */
  readonly onPartial: () => void;
}

/** Resolves with the answer; throws TURN_*, MODEL_*, COST_LIMIT, STORE_*. `progress` tells what happened until then. */
export async function runTurn(run: TurnRun): Promise<string> {
  const { progress, settings, redaction, turn } = run;
  for (let step = await takeUp(run); step < settings.maxSteps; step += 1) {
    const answer = withUniqueCallIds(await askModel(run, step), progress.messages, run.steps?.usedCallIds);
    const content = redactText(answer.content, redaction.redact);
    const calls = toolCallsOf(content);
    const text = textOf(content);
    if (calls.length === 0 && text.trim() === "") throw new SvcError("TURN_FAILED", "The model gave an empty answer.");
    progress.messages.push(assistantMessage(content));
    progress.partial = undefined;
    if (calls.length === 0) return text;
    run.steps?.answered(progress, content, answer);
    if (turn.request.watch) await turn.request.watch.pause(text);
    for (const call of calls) await runCall(run, call);
  }
  throw new SvcError("TURN_STEP_LIMIT", undefined, { hint: "Raise agent.max_steps, or ask for less at once." });
}

/** Goes on where an earlier attempt was cut off. Resolves with the number of steps it had made. */
async function takeUp(run: TurnRun): Promise<number> {
  const { steps, progress, turn } = run;
  if (!steps || !turn.request.resumable) return 0;
  const { done, calls } = steps.takeUp(progress);
  for (const call of calls) {
    const result = steps.resultOf(call);
    if (result) progress.messages.push(result);
    else await runCall(run, call);
  }
  return done;
}

async function runCall(run: TurnRun, call: LanguageModelV4ToolCall): Promise<void> {
  const { progress, turn, steps, store, redaction, grants, emit } = run;
  const { request, limit } = turn;
  await turn.storing;
  const id = { callId: call.toolCallId, tool: call.toolName };
  emit({ type: "tool-call", ...id });
  const outcome = await callTool(run.environment, {
    turnId: progress.id,
    callId: call.toolCallId,
    name: call.toolName,
    clientId: request.clientId,
    input: call.input,
    conversation:
      request.sender === undefined ? undefined : { owner: turn.owner, name: turn.name, sender: request.sender },
    ask: run.ask,
    isGranted: grants && ((tool) => grants.take(tool, call.toolCallId)),
    signal: limit.signal,
    redact: redaction.redact,
    beforeAsk: steps && ((record) => keepQuestion(run, steps, record)),
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

/** Whoever takes the turn up finds the call, and asks by the same name: the person has one question, and one answer. */
async function keepQuestion({ store }: TurnRun, steps: KeptSteps, call: ToolCallRecord): Promise<void> {
  await store.write(() => {
    steps.write();
    store.toolCalls.ask(call);
  });
  steps.written();
}
