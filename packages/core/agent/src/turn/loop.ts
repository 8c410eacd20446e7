/**
 * The turn: model ⇄ tools until there is an answer. It speaks the AI SDK's provider interface itself instead of calling
 * `generateText`, because every step must be on disk before the next one, a person may be asked in the middle, and the
 * `ai` package would cost 16 MB and 110 ms (docs/decisions/0001).
 */
import type { LanguageModelV4ToolCall } from "@ai-sdk/provider";
import { type Json, SvcError } from "@svc/contract";
import type { JournalledCall, Store, ToolCallRecord } from "@svc/store";
import { callTool } from "../tools/call-tool.ts";
import type { ToolEnvironment } from "../tools/environment.ts";
import type { AskPerson } from "../types.ts";
import type { StepCheckpoints } from "./checkpoint.ts";
import { assistantMessage, redactText, textOf, toolCallsOf, toolMessage, withUniqueCallIds } from "./messages.ts";
import { ModelStep, type ModelStepDeps } from "./model-step.ts";

export interface TurnLoopDeps extends ModelStepDeps {
  /** The one in force now; throws AGENT_UNKNOWN when a reload has removed the agent. */
  readonly environment: () => ToolEnvironment;
  readonly ask: AskPerson | undefined;
  readonly grants: Grants | undefined;
  /** Of a turn that can be resumed. */
  readonly steps: StepCheckpoints | undefined;
  readonly store: Store;
}

export class TurnLoop {
  readonly #deps: TurnLoopDeps;
  readonly #model: ModelStep;

  constructor(deps: TurnLoopDeps) {
    this.#deps = deps;
    this.#model = new ModelStep(deps);
  }

  /** Resolves with the answer; throws TURN_*, MODEL_*, COST_LIMIT, STORE_*. `progress` tells what happened until then. */
  async run(): Promise<string> {
    const { progress, settings, redaction, turn, steps } = this.#deps;
    for (let step = await this.#resume(); step < settings.maxSteps; step += 1) {
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
  async #resume(): Promise<number> {
    const { steps, progress, turn } = this.#deps;
    if (!steps || !turn.request.resumable) return 0;
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
export class Grants {
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
