/**
 * Checkpoints: what is on disk of a turn before its end. The steps of a turn that can be resumed: the model's answer is written
 * before its first tool call starts, in the same transaction. The results are in the journal of tool calls; the result of a call
 * that never started (a refusal) is with the step after it, or else the call could run without the model's knowledge.
 */
import type { LanguageModelV4Content, LanguageModelV4Message, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import type { Clock, Json } from "@svc/contract";
import type { JournalledCall, PartialAnswer, Store, TurnStep } from "@svc/store";
import type { ModelAnswer } from "../models/call-model.ts";
import type { CoreTool } from "../tools/environment.ts";
import type { Unsettled } from "../cost.ts";
import { assistantMessage, INTERRUPTED, kept, toolCallsOf, toolMessage, userMessage } from "./messages.ts";
import type { TurnProgress } from "./active-turns.ts";

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

export interface StepCheckpointsDeps {
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
    if (this.#isEmpty && this.#unwritten.length === 0) this.#unwritten.push(questionStep(progress.messages[0]!));
    const isCounted = inputTokens !== undefined && outputTokens !== undefined;
    const step: KeptStep = { results: this.#results.splice(0), content: kept(content), isCounted };
    const message = step as unknown as Json;
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
  message: { question } satisfies KeptQuestion as unknown as Json,
  inputTokens: 0,
  outputTokens: 0,
});

const unknown = (call: LanguageModelV4ToolCall): LanguageModelV4Message => toolMessage(call, false, INTERRUPTED);

function callIdOf({ content }: LanguageModelV4Message): string | undefined {
  const [part] = content;
  return typeof part === "object" && part.type === "tool-result" ? part.toolCallId : undefined;
}

const SAVE_MS = 200;

export interface AnswerCheckpointsDeps {
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
