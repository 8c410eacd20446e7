/**
 * The turn: model ⇄ tools until there is an answer. It speaks the AI SDK's provider interface itself instead of calling
 * `generateText`, because every step must be on disk before the next one, a person may be asked in the middle, and the
 * `ai` package would cost 16 MB and 110 ms (docs/decisions/0001).
 */
import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolCall,
} from "@ai-sdk/provider";
import { type Json, SvcError, type TurnEvent } from "@svc/contract";
import type { IdempotencyClaim } from "@svc/store";
import { callModel, type ModelAnswer } from "../models/call-model.ts";
import { callTool } from "../tools/call-tool.ts";
import type { ToolEnvironment } from "../tools/environment.ts";
import type { TurnRequest } from "../types.ts";
import { assistantMessage, textOf, toolCallsOf, toolMessage, withUniqueCallIds } from "./messages.ts";
import type { TimeLimit } from "./time-limit.ts";

export interface TurnSettings {
  readonly model: LanguageModelV4;
  readonly instructions: string | undefined;
  readonly maxSteps: number;
  readonly maxRetries: number;
  readonly maxOutputTokens: number | undefined;
  readonly functionTools: LanguageModelV4FunctionTool[];
}

/** What a turn has done so far; complete even when it ends by an error. */
export interface TurnProgress {
  readonly id: string;
  /** The messages this turn adds to the conversation. */
  messages: LanguageModelV4Message[];
  inputTokens: number;
  outputTokens: number;
  /** Every answer so far told its tokens. */
  metered: boolean;
  /** An acting tool was started. */
  acted: boolean;
}

export interface TurnRun {
  readonly request: TurnRequest;
  readonly settings: TurnSettings;
  readonly environment: ToolEnvironment;
  /** Messages of earlier turns. */
  readonly history: readonly LanguageModelV4Message[];
  readonly progress: TurnProgress;
  readonly limit: TimeLimit;
  readonly emit: (event: TurnEvent) => void;
}

/** Resolves with the answer; throws TURN_*, MODEL_*, STORE_*. `progress` tells what happened until then. */
export async function runTurn(run: TurnRun): Promise<string> {
  const { progress, settings } = run;
  for (let step = 0; step < settings.maxSteps; step += 1) {
    const answer = withUniqueCallIds(await askModel(run), progress.messages);
    progress.inputTokens += answer.inputTokens ?? 0;
    progress.outputTokens += answer.outputTokens ?? 0;
    progress.metered &&= answer.inputTokens !== undefined && answer.outputTokens !== undefined;
    const calls = toolCallsOf(answer.content);
    const text = textOf(answer.content);
    if (calls.length === 0 && text.trim() === "") throw new SvcError("TURN_FAILED", "The model gave an empty answer.");
    progress.messages.push(assistantMessage(answer.content));
    if (calls.length === 0) return text;
    for (const call of calls) await runCall(run, call);
  }
  throw new SvcError("TURN_STEP_LIMIT", undefined, { hint: "Raise agent.max_steps, or ask for less at once." });
}

function askModel(run: TurnRun): Promise<ModelAnswer> {
  const { settings, progress, request, environment, emit } = run;
  const prompt: LanguageModelV4Message[] = settings.instructions
    ? [{ role: "system", content: settings.instructions }]
    : [];
  return callModel({
    model: settings.model,
    clock: environment.clock,
    maxRetries: settings.maxRetries,
    onText: request.onEvent && ((text) => emit({ type: "text-delta", turnId: progress.id, text })),
    options: {
      prompt: prompt.concat(run.history, progress.messages),
      abortSignal: run.limit.signal,
      ...(settings.maxOutputTokens !== undefined && { maxOutputTokens: settings.maxOutputTokens }),
      ...(settings.functionTools.length > 0 && { tools: settings.functionTools }),
    },
  });
}

async function runCall(run: TurnRun, call: LanguageModelV4ToolCall): Promise<void> {
  const { progress, request, environment, limit, emit } = run;
  const id = { turnId: progress.id, callId: call.toolCallId, tool: call.toolName };
  emit({ type: "tool-call", ...id });
  const outcome = await callTool(environment, {
    ...id,
    name: call.toolName,
    clientId: request.clientId,
    input: call.input,
    ask: request.ask,
    signal: limit.signal,
    pause: (wait) => limit.paused(wait),
    alsoOnActing: () => keepRunning(environment, request.claim, progress.id),
    onActing: () => {
      progress.acted = true;
    },
  });
  progress.messages.push(toolMessage(call, outcome.ok, outcome.output as Json));
  emit({ type: "tool-result", ...id, ok: outcome.ok });
}

/** From its first acting call on, a turn's idempotency key survives a crash. */
function keepRunning(environment: ToolEnvironment, claim: IdempotencyClaim | undefined, turnId: string): void {
  if (claim) environment.store.idempotency.keep(claim, turnId, "running");
}
