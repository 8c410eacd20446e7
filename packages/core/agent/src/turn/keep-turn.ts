/** A turn that is over, on disk: with its idempotency key in one transaction, or gone without a trace. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { Clock, Json, Logger } from "@svc/contract";
import type { Store } from "@svc/store";
import { estimateTokens } from "../models/tokens.ts";
import type { TurnRequest } from "../types.ts";
import type { Conversation, History } from "./history.ts";
import type { TurnProgress } from "./turn.ts";

export interface TurnKeeperOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly history: History;
  /** Name of the model, as records show it. */
  readonly model: string;
  /** US dollars of what was used; undefined when that is unknown. */
  readonly cost: (progress: TurnProgress) => number | undefined;
}

export class TurnKeeper {
  readonly #options: TurnKeeperOptions;

  constructor(options: TurnKeeperOptions) {
    this.#options = options;
  }

  /** The turn and its idempotency key, on disk together before anybody is answered. */
  async keep(request: TurnRequest, conversation: Conversation, progress: TurnProgress): Promise<void> {
    const { store, clock, history, model, cost } = this.#options;
    const { claim } = request;
    const tokens = tokensOf(progress.messages);
    const place = await store.write(() => {
      const kept = store.sessions.append(conversation, conversation.place, {
        id: progress.id,
        at: clock.now(),
        model,
        messages: progress.messages as unknown as Json,
        tokens,
        inputTokens: progress.inputTokens,
        outputTokens: progress.outputTokens,
        costUsd: cost(progress),
      });
      if (claim) store.idempotency.keep(claim, progress.id, "done");
      return kept;
    });
    if (claim) store.idempotency.release(claim);
    history.append(conversation, place, progress.messages, tokens);
  }

  /**
   * A failed turn in which a tool acted stays in the conversation, or the model would not know what it did; its key
   * stays too. One in which nothing acted leaves no trace and may be sent again with the same key.
   */
  async keepFailed(request: TurnRequest, conversation: Conversation, progress: TurnProgress): Promise<void> {
    const { store, log, history } = this.#options;
    if (progress.acted) {
      const text = "[This turn failed before it could answer. The tool results above did happen.]";
      progress.messages = closed(progress.messages, text);
      await this.keep(request, conversation, progress).catch((error: unknown) => {
        history.forget(conversation);
        log.error("a failed turn could not be kept", { turn: progress.id, error: String(error) });
      });
    }
    if (request.claim) store.idempotency.release(request.claim);
  }
}

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
      const output = { type: "error-text" as const, value: "interrupted, outcome unknown" };
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
