/** A turn that is over, on disk: with its idempotency key and what it cost in one transaction, or gone without a trace. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { Clock, Json, Logger } from "@svc/contract";
import type { Store } from "@svc/store";
import { modelName } from "../models/open-model.ts";
import { estimateTokens } from "../models/tokens.ts";
import type { Spending } from "../money/spending.ts";
import type { AgentProfile } from "../profiles.ts";
import type { TurnRequest } from "../types.ts";
import type { Conversation, History } from "./history.ts";
import type { KeptSteps } from "./kept-steps.ts";
import { INTERRUPTED, redactInputs } from "./messages.ts";
import type { TurnProgress } from "./turn.ts";

export interface TurnKeeperOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly history: History;
  readonly spending: Spending;
  /** Takes the configured secrets out of what is kept. */
  readonly redact: (text: string) => string;
}

/** What there is to keep. */
export interface EndedTurn {
  readonly request: Pick<TurnRequest, "claim" | "resumable">;
  readonly conversation: Conversation;
  readonly progress: TurnProgress;
  /** The agent as it was when the turn began. */
  readonly profile: AgentProfile;
  /** Of a turn that can be taken up again. */
  readonly steps: KeptSteps | undefined;
}

export class TurnKeeper {
  readonly #options: TurnKeeperOptions;

  constructor(options: TurnKeeperOptions) {
    this.#options = options;
  }

  /** The turn, its idempotency key and its cost, on disk together before anybody is answered. */
  async keep({ request, conversation, progress, profile, steps }: EndedTurn, alongside?: () => void): Promise<void> {
    const { store, clock, history, spending, redact } = this.#options;
    const { claim } = request;
    const { meter } = progress;
    const messages = redactInputs(progress.messages, redact);
    const tokens = tokensOf(messages);
    const spent = spending.toRecord(profile, meter);
    const place = await store.write(() => {
      const kept = store.sessions.append(conversation, conversation.place, {
        id: progress.id,
        at: clock.now(),
        model: modelName(profile.model),
        messages: messages as unknown as Json,
        tokens,
        inputTokens: meter.inputTokens,
        outputTokens: meter.outputTokens,
        costUsd: meter.costUsd,
      });
      if (claim) store.idempotency.keep(claim, progress.id, "done");
      spent?.write();
      steps?.drop();
      alongside?.();
      return kept;
    });
    spent?.settle();
    if (claim) store.idempotency.release(claim);
    history.append(conversation, place, messages, tokens);
  }

  /**
   * A failed turn in which a tool acted stays in the conversation, or the model would not know what it did; its key
   * stays too. One in which nothing acted may be sent again with the same key, and leaves nothing but what it cost. One
   * that will be taken up again has left its steps.
   */
  async keepFailed(turn: EndedTurn): Promise<void> {
    const { store, log, history, spending } = this.#options;
    const { request, conversation, progress, profile } = turn;
    const notKept = (what: string) => (error: unknown) =>
      log.error(`${what} could not be kept`, { turn: progress.id, error: String(error) });
    if (request.resumable) {
      await spending.recordAttempt(profile, progress.meter).catch(notKept("the cost of a failed attempt"));
    } else if (progress.acted) {
      progress.messages = closed(progress.messages, FAILED);
      await this.keep(turn).catch((error: unknown) => {
        history.forget(conversation);
        notKept("a failed turn")(error);
      });
    } else await spending.record(profile, progress.meter).catch(notKept("the cost of a failed turn"));
    if (request.claim) store.idempotency.release(request.claim);
  }

  /**
   * A turn that nobody takes up again. Its steps go; whether what acted in it stays in the conversation is for the caller to
   * say. Rejects with STORE_*, and then nothing has changed.
   */
  async abandon(
    turn: EndedTurn & { readonly steps: KeptSteps },
    acts: "kept" | "forgotten",
    alongside: () => void,
  ): Promise<void> {
    const { store, spending } = this.#options;
    const { progress, profile, steps } = turn;
    for (const call of steps.takeUp(progress).calls) {
      const result = steps.resultOf(call);
      if (result) progress.messages.push(result);
    }
    if (progress.acted && acts === "kept") {
      progress.messages = closed(progress.messages, FAILED);
      return this.keep(turn, alongside);
    }
    const spent = spending.toRecord(profile, progress.meter);
    await store.write(() => {
      spent?.write();
      steps.drop();
      alongside();
    });
    spent?.settle();
  }
}

const FAILED = "[This turn failed before it could answer. The tool results above did happen.]";

/** Every tool call needs its result, or the next request is refused by the provider; a cut-off turn gets an end. */
function closed(messages: readonly LanguageModelV4Message[], text: string): LanguageModelV4Message[] {
  const answered = new Set<string>();
  for (const message of messages) {
    if (message.role !== "tool") continue;
    for (const part of message.content) if (part.type === "tool-result") answered.add(part.toolCallId);
  }
  const result: LanguageModelV4Message[] = [];
  for (const message of messages) {
    result.push(message);
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "tool-call" || answered.has(part.toolCallId)) continue;
      const output = { type: "error-text" as const, value: INTERRUPTED };
      result.push({
        role: "tool",
        content: [{ type: "tool-result", toolCallId: part.toolCallId, toolName: part.toolName, output }],
      });
    }
  }
  result.push({ role: "assistant", content: [{ type: "text", text }] });
  return result;
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
