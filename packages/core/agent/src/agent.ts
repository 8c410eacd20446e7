/** The agent: brings lanes, history, model and tools together, and makes the end of a turn one transaction. */
import type { LanguageModelV4, LanguageModelV4Message } from "@ai-sdk/provider";
import { type Clock, type Json, type Logger, SvcError, type TurnEvent } from "@svc/contract";
import type { CoreConfig } from "@svc/kernel";
import type { Store } from "@svc/store";
import { costUsd } from "./models/price.ts";
import { modelName, openModel } from "./models/open-model.ts";
import { estimateTokens } from "./models/tokens.ts";
import type { ToolEnvironment } from "./tools/environment.ts";
import { functionTools } from "./tools/function-tools.ts";
import { type Conversation, History } from "./turn/history.ts";
import { Lanes } from "./turn/lanes.ts";
import { userMessage } from "./turn/messages.ts";
import { TimeLimit } from "./turn/time-limit.ts";
import { runTurn, type TurnProgress, type TurnSettings } from "./turn/turn.ts";
import type { TurnRequest, TurnResult, TurnRunner } from "./types.ts";

export interface AgentOptions {
  readonly config: Pick<CoreConfig, "model" | "agent">;
  readonly store: Store;
  readonly environment: ToolEnvironment;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told every event of every turn. */
  readonly publish?: (event: TurnEvent) => void;
  /** In place of the model that the config names; for tests. */
  readonly model?: LanguageModelV4;
}

export interface Agent extends TurnRunner {
  readonly model: string;
  /** Turns that run and that wait. */
  load(): { running: number; waiting: number };
  /** Evaluates the model's library, so that the first turn does not wait for it. */
  warm(): Promise<void>;
}

export function createAgent(options: AgentOptions): Agent {
  return new RunningAgent(options);
}

class RunningAgent implements Agent {
  readonly model: string;
  readonly #options: AgentOptions;
  readonly #lanes: Lanes;
  readonly #history: History;
  #settings: Promise<TurnSettings> | undefined;

  constructor(options: AgentOptions) {
    const { agent, model } = options.config;
    this.#options = options;
    this.model = modelName(model);
    this.#lanes = new Lanes(agent.max_parallel_turns);
    this.#history = new History(options.store, agent.history_max_tokens);
  }

  load(): { running: number; waiting: number } {
    return { running: this.#lanes.running, waiting: this.#lanes.waiting };
  }

  async warm(): Promise<void> {
    await this.#open();
  }

  async run(request: TurnRequest): Promise<TurnResult> {
    const { session, owner = request.clientId } = request;
    let handed = false;
    try {
      if (session === undefined) {
        const conversation = this.#history.fresh(owner);
        return await this.#lanes.run(conversation.name, () => ((handed = true), this.#turn(request, conversation)));
      }
      return await this.#lanes.run(`${owner}\n${session}`, () => {
        handed = true;
        return this.#turn(request, this.#history.open(owner, session));
      });
    } finally {
      // Refused before its turn began: nothing acted, so the key is new again.
      if (!handed && request.claim) this.#options.store.idempotency.release(request.claim);
    }
  }

  async #turn(request: TurnRequest, conversation: Conversation): Promise<TurnResult> {
    const { clock, config, environment, publish } = this.#options;
    const progress: TurnProgress = {
      id: `t-${crypto.randomUUID()}`,
      messages: [userMessage(request.text)],
      inputTokens: 0,
      outputTokens: 0,
      acted: false,
    };
    const startedAt = clock.monotonic();
    const emit = (event: TurnEvent): void => {
      request.onEvent?.(event);
      publish?.(event);
    };
    emit({ type: "turn-start", turnId: progress.id, sessionId: conversation.name, clientId: request.clientId });
    const limit = new TimeLimit(clock, config.agent.turn_timeout_secs * 1000, request.signal);
    let ok = false;
    try {
      const settings = await this.#open();
      limit.signal.throwIfAborted();
      const response = await runTurn({
        request,
        settings,
        environment,
        history: conversation.messages,
        progress,
        limit,
        emit,
      });
      await this.#keep(request, conversation, progress);
      ok = true;
      return this.#result(conversation, progress, response);
    } catch (error) {
      await this.#keepFailed(request, conversation, progress);
      throw error instanceof SvcError ? error : new SvcError("TURN_FAILED", undefined, { cause: error });
    } finally {
      limit.end();
      emit({
        type: "turn-end",
        turnId: progress.id,
        ok,
        model: this.model,
        durationMs: clock.monotonic() - startedAt,
        inputTokens: progress.inputTokens,
        outputTokens: progress.outputTokens,
        costUsd: costUsd(config.model, progress.inputTokens, progress.outputTokens),
      });
    }
  }

  #result(conversation: Conversation, progress: TurnProgress, response: string): TurnResult {
    const { id: turnId, inputTokens, outputTokens } = progress;
    const cost = costUsd(this.#options.config.model, inputTokens, outputTokens);
    return {
      turnId,
      response,
      model: this.model,
      sessionId: conversation.name,
      inputTokens,
      outputTokens,
      costUsd: cost,
    };
  }

  /** The turn and its idempotency key, on disk together before anybody is answered. */
  async #keep(request: TurnRequest, conversation: Conversation, progress: TurnProgress): Promise<void> {
    const { store, clock, config } = this.#options;
    const { claim } = request;
    const tokens = tokensOf(progress.messages);
    const place = await store.write(() => {
      const kept = store.sessions.append(conversation, conversation.place, {
        id: progress.id,
        at: clock.now(),
        model: this.model,
        messages: progress.messages as unknown as Json,
        tokens,
        inputTokens: progress.inputTokens,
        outputTokens: progress.outputTokens,
        costUsd: costUsd(config.model, progress.inputTokens, progress.outputTokens),
      });
      if (claim) store.idempotency.keep(claim, progress.id, "done");
      return kept;
    });
    if (claim) store.idempotency.release(claim);
    this.#history.append(conversation, place, progress.messages, tokens);
  }

  /**
   * A failed turn in which a tool acted stays in the conversation, or the model would not know what it did; its key
   * stays too. One in which nothing acted leaves no trace and may be sent again with the same key.
   */
  async #keepFailed(request: TurnRequest, conversation: Conversation, progress: TurnProgress): Promise<void> {
    const { store, log } = this.#options;
    if (progress.acted) {
      const text = "[This turn failed before it could answer. The tool results above did happen.]";
      progress.messages = closed(progress.messages, text);
      await this.#keep(request, conversation, progress).catch((error: unknown) => {
        this.#history.forget(conversation);
        log.error("a failed turn could not be kept", { turn: progress.id, error: String(error) });
      });
    }
    if (request.claim) store.idempotency.release(request.claim);
  }

  #open(): Promise<TurnSettings> {
    this.#settings ??= this.#read().catch((error: unknown) => {
      this.#settings = undefined;
      throw error;
    });
    return this.#settings;
  }

  async #read(): Promise<TurnSettings> {
    const { config, environment } = this.#options;
    return {
      model: this.#options.model ?? (await openModel(config.model)),
      instructions: config.agent.instructions,
      maxSteps: config.agent.max_steps,
      maxRetries: config.model.max_retries,
      maxOutputTokens: config.model.max_output_tokens,
      // The built-in model reads no schemas, so making them would only cost start-up time.
      functionTools:
        config.model.provider === "builtin" && !this.#options.model ? [] : await functionTools(environment.tools),
    };
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
