/**
 * The steps of a turn that can be taken up again. What the model answered is on disk before the first tool call of that
 * answer starts, in the same transaction. The results are in the journal of tool calls; what came of a call that never
 * started (a refusal) stands with the step after it, or else the call could run behind the model's back.
 */
import type { LanguageModelV4Content, LanguageModelV4Message, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import type { Json } from "@svc/contract";
import type { JournalledCall, Store } from "@svc/store";
import type { ModelAnswer } from "../models/call-model.ts";
import type { Unsettled } from "../money/spending.ts";
import { assistantMessage, INTERRUPTED, kept, toolCallsOf, toolMessage } from "./messages.ts";
import type { TurnProgress } from "./turn.ts";

/** One step as it is kept. */
interface KeptStep {
  /** Of the first one: what the model was asked, word for word. */
  readonly question?: LanguageModelV4Message;
  /** Of calls of the step before that never started. */
  readonly results: readonly LanguageModelV4Message[];
  readonly content: readonly LanguageModelV4Content[];
  /** The provider counted all tokens. */
  readonly isCounted: boolean;
}

interface Unkept {
  readonly message: Json;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export class KeptSteps {
  readonly #store: Pick<Store, "steps" | "toolCalls">;
  readonly #turnId: string;
  /** What the turn has used and nobody has recorded. */
  readonly #spent: () => Unsettled | undefined;
  #journal: ReadonlyMap<string, JournalledCall> = new Map();
  #unkept: Unkept[] = [];
  #results: LanguageModelV4Message[] = [];
  #cost: Unsettled | undefined;
  #isEmpty = true;

  constructor(store: Pick<Store, "steps" | "toolCalls">, turnId: string, spent: () => Unsettled | undefined) {
    this.#store = store;
    this.#turnId = turnId;
    this.#spent = spent;
  }

  /** Brings `progress` to where the last attempt ended. The calls of the last step, and how many steps there are. */
  takeUp(progress: TurnProgress): { readonly done: number; readonly calls: readonly LanguageModelV4ToolCall[] } {
    const steps = this.#store.steps.of(this.#turnId);
    this.#isEmpty = steps.length === 0;
    this.#journal = new Map(this.#store.toolCalls.of(this.#turnId).map((call) => [call.callId, call]));
    let calls: LanguageModelV4ToolCall[] = [];
    for (const { message, inputTokens, outputTokens } of steps) {
      const { question, results, content, isCounted } = message as unknown as KeptStep;
      if (question) progress.messages = [question];
      const told = new Map(results.map((result) => [callIdOf(result), result]));
      for (const call of calls)
        progress.messages.push(told.get(call.toolCallId) ?? this.resultOf(call) ?? unknown(call));
      progress.messages.push(assistantMessage(content));
      progress.meter.restore({ inputTokens, outputTokens }, isCounted);
      calls = toolCallsOf(content);
      progress.acted ||= calls.some(({ toolCallId }) => this.#journal.get(toolCallId)?.acting === true);
    }
    return { done: steps.length, calls };
  }

  /**
   * What an earlier attempt has of a call; undefined: it is to be made. One that acts and was interrupted may have done
   * what it does, and is never made twice.
   */
  resultOf(call: LanguageModelV4ToolCall): LanguageModelV4Message | undefined {
    const known = this.#journal.get(call.toolCallId);
    if (known?.state === "finished") return toolMessage(call, true, known.output);
    if (known?.state === "failed") return toolMessage(call, false, known.output);
    return known?.acting === true ? unknown(call) : undefined;
  }

  /** Ids that a further call must not have. A turn that failed and is run anew has a journal, and no steps. */
  get usedCallIds(): Iterable<string> {
    return this.#journal.keys();
  }

  /** The model wants tools called. */
  answered(progress: TurnProgress, content: readonly LanguageModelV4Content[], answer: ModelAnswer): void {
    const { inputTokens, outputTokens } = answer;
    const isFirst = this.#isEmpty && this.#unkept.length === 0;
    const step: KeptStep = {
      ...(isFirst && { question: progress.messages[0]! }),
      results: this.#results.splice(0),
      content: kept(content),
      isCounted: inputTokens !== undefined && outputTokens !== undefined,
    };
    const message = step as unknown as Json;
    this.#cost = this.#spent();
    this.#unkept.push({ message, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 });
  }

  /** A call that never started. */
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

const unknown = (call: LanguageModelV4ToolCall): LanguageModelV4Message => toolMessage(call, false, INTERRUPTED);

const callIdOf = ({ content }: LanguageModelV4Message): string | undefined => {
  const [part] = content;
  return typeof part === "object" && part.type === "tool-result" ? part.toolCallId : undefined;
};
