/**
 * The steps of a turn that can be taken up again. What the model answered is on disk before the first tool call of that
 * answer starts, in the same transaction. The results are in the journal of tool calls; what came of a call that never
 * started (a refusal) stands with the step after it, or else the call could run behind the model's back.
 */
import type { LanguageModelV4Content, LanguageModelV4Message, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import type { Json } from "@svc/contract";
import type { JournalledCall, Store, TurnStep } from "@svc/store";
import type { ModelAnswer } from "../models/call-model.ts";
import type { CoreTool } from "../tools/core-tool-context.ts";
import type { Unsettled } from "../money/spending.ts";
import { assistantMessage, INTERRUPTED, kept, toolCallsOf, toolMessage, userMessage } from "./messages.ts";
import type { TurnProgress } from "./turn.ts";

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

/** Inside a transaction: asked in these words, whoever takes the turn up. For a question that costs something to make. */
export const keepQuestion = (store: Pick<Store, "steps">, turnId: string, text: string): void =>
  store.steps.add(turnId, questionStep(userMessage(text)));

export interface KeptStepsOptions {
  readonly store: StepStore;
  readonly turnId: string;
  /** What the turn has used and nobody has recorded. */
  readonly spent: () => Unsettled | undefined;
  /** Undefined when there is none of this name any more. */
  readonly toolOf: (name: string) => CoreTool | undefined;
}

export class KeptSteps {
  readonly #store: StepStore;
  readonly #turnId: string;
  readonly #spent: () => Unsettled | undefined;
  readonly #toolOf: (name: string) => CoreTool | undefined;
  #journal: ReadonlyMap<string, JournalledCall> = new Map();
  #unkept: TurnStep[] = [];
  #results: LanguageModelV4Message[] = [];
  #cost: Unsettled | undefined;
  #isEmpty = true;

  constructor({ store, turnId, spent, toolOf }: KeptStepsOptions) {
    this.#store = store;
    this.#turnId = turnId;
    this.#spent = spent;
    this.#toolOf = toolOf;
  }

  /** Brings `progress` to where the last attempt ended. The calls of the last step, and how many steps there are. */
  takeUp(progress: TurnProgress): { readonly done: number; readonly calls: readonly LanguageModelV4ToolCall[] } {
    const rows = this.#store.steps.of(this.#turnId);
    this.#isEmpty = rows.length === 0;
    this.#journal = new Map(this.#store.toolCalls.of(this.#turnId).map((call) => [call.callId, call]));
    let calls: LanguageModelV4ToolCall[] = [];
    for (const { message, ...tokens } of rows) {
      const row = message as unknown as KeptQuestion | KeptStep;
      if (row.question) {
        progress.messages = [row.question];
        continue;
      }
      const told = new Map(row.results.map((result) => [callIdOf(result), result]));
      const results = calls.map((call) => told.get(call.toolCallId) ?? this.resultOf(call) ?? unknown(call));
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
    if (this.#isEmpty && this.#unkept.length === 0) this.#unkept.push(questionStep(progress.messages[0]!));
    const isCounted = inputTokens !== undefined && outputTokens !== undefined;
    const step: KeptStep = { results: this.#results.splice(0), content: kept(content), isCounted };
    const message = step as unknown as Json;
    this.#unkept.push({ message, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 });
    this.#cost = this.#spent();
  }

  /** What came of a call that never started. */
  notStarted(result: LanguageModelV4Message): void {
    this.#results.push(result);
  }

  /** Inside the transaction in which a call starts. */
  write(): void {
    if (this.#unkept.length === 0) return;
    for (const step of this.#unkept) this.#store.steps.add(this.#turnId, step);
    this.#cost?.write();
  }

  /** That transaction is on disk. */
  written(): void {
    if (this.#unkept.length === 0) return;
    this.#unkept = [];
    this.#isEmpty = false;
    this.#cost?.settle();
  }

  /** Inside the transaction that ends the turn. */
  drop(): void {
    if (!this.#isEmpty) this.#store.steps.drop(this.#turnId);
  }
}

const questionStep = (question: LanguageModelV4Message): TurnStep => ({
  message: { question } satisfies KeptQuestion as unknown as Json,
  inputTokens: 0,
  outputTokens: 0,
});

const unknown = (call: LanguageModelV4ToolCall): LanguageModelV4Message => toolMessage(call, false, INTERRUPTED);

function callIdOf({ content }: LanguageModelV4Message): string | undefined {
  const [part] = content;
  return typeof part === "object" && part.type === "tool-result" ? part.toolCallId : undefined;
}
