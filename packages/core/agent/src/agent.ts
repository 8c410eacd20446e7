/** The agent: brings lanes, history, model and tools together, and makes the end of a turn one transaction. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type Clock, type Logger, SvcError, type TurnEvent } from "@svc/contract";
import type { CoreConfig } from "@svc/kernel";
import type { Store } from "@svc/store";
import { costUsd } from "./models/price.ts";
import { modelName, openModel } from "./models/open-model.ts";
import type { ToolEnvironment } from "./tools/environment.ts";
import { functionTools } from "./tools/function-tools.ts";
import { type Conversation, History } from "./turn/history.ts";
import { TurnKeeper } from "./turn/keep-turn.ts";
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
  readonly #keeper: TurnKeeper;
  #settings: Promise<TurnSettings> | undefined;

  constructor(options: AgentOptions) {
    const { agent, model } = options.config;
    this.#options = options;
    this.model = modelName(model);
    this.#lanes = new Lanes(agent.max_parallel_turns);
    this.#history = new History(options.store, agent.history_max_tokens);
    const { store, clock, log } = options;
    const cost = (progress: TurnProgress): number | undefined => costUsd(model, progress);
    this.#keeper = new TurnKeeper({ store, clock, log, history: this.#history, model: this.model, cost });
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
      metered: true,
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
      await this.#keeper.keep(request, conversation, progress);
      ok = true;
      return this.#result(conversation, progress, response);
    } catch (error) {
      await this.#keeper.keepFailed(request, conversation, progress);
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
        costUsd: costUsd(config.model, progress),
      });
    }
  }

  #result(conversation: Conversation, progress: TurnProgress, response: string): TurnResult {
    const { id: turnId, inputTokens, outputTokens } = progress;
    const cost = costUsd(this.#options.config.model, progress);
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
