/** The agent: brings lanes, history, model and tools together, and makes the end of a turn one transaction. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type Clock, type Logger, SvcError, type TurnEvent } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/kernel";
import type { Store } from "@svc/store";
import { costUsd } from "./models/price.ts";
import { modelName, openModel } from "./models/open-model.ts";
import type { AgentProfile, AgentSet } from "./profiles.ts";
import type { SessionService } from "./sessions/types.ts";
import type { ModelTest } from "./models/test-model.ts";
import { functionTools } from "./tools/function-tools.ts";
import { type Conversation, History } from "./turn/history.ts";
import { TurnKeeper } from "./turn/keep-turn.ts";
import { Lanes } from "./turn/lanes.ts";
import { userMessage } from "./turn/messages.ts";
import { TimeLimit } from "./turn/time-limit.ts";
import { runTurn, type TurnProgress, type TurnSettings } from "./turn/turn.ts";
import type { TurnRequest, TurnResult, TurnRunner } from "./types.ts";

export interface AgentOptions {
  readonly agents: AgentSet;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes the configured secrets out of what leaves the process: answers, what tools give to the model, old messages. */
  readonly redact?: (text: string) => string;
  /** How many characters at the end of a text may be the beginning of a secret. Without it no answer is told in pieces. */
  readonly partialSecret?: (text: string) => number;
  /** Told every event of every turn. */
  readonly publish?: (event: TurnEvent) => void;
  /** In place of the model that the config names; for tests. */
  readonly model?: LanguageModelV4;
}

export interface Agent extends TurnRunner {
  /** Name of the default agent's model. */
  readonly model: string;
  readonly sessions: SessionService;
  /**
   * From here on `agents` are in force. A turn that runs keeps its model and the tools it was offered, but each further
   * tool call of it is judged and run as the new set says: who locks down is obeyed at once. Never throws.
   */
  reconfigure(agents: AgentSet): void;
  /** One tiny model call without tools, for `svc model test`. Throws AGENT_UNKNOWN. */
  test(name: string | undefined, signal: AbortSignal): Promise<ModelTest>;
  /** Turns that run and that wait. */
  load(): { running: number; waiting: number };
  /** Evaluates the model's library, so that the first turn does not wait for it. */
  warm(): Promise<void>;
}

export function createAgent(options: AgentOptions): Agent {
  return new RunningAgent(options);
}

class RunningAgent implements Agent {
  readonly #options: AgentOptions;
  readonly #lanes: Lanes;
  readonly #history: History;
  #agents: AgentSet;
  #settings = new Map<AgentProfile, Promise<TurnSettings>>();

  constructor(options: AgentOptions) {
    const { agents, store } = options;
    this.#options = options;
    this.#agents = agents;
    this.#lanes = new Lanes(agents.maxParallelTurns);
    this.#history = new History(store, agents.historyMaxTokens);
  }

  get model(): string {
    return modelName(this.#profile(DEFAULT_AGENT).model);
  }

  get sessions(): SessionService {
    throw new SvcError("INTERNAL", "Not there yet.");
  }

  reconfigure(agents: AgentSet): void {
    this.#agents = agents;
    this.#settings = new Map();
  }

  test(): Promise<ModelTest> {
    throw new SvcError("INTERNAL", "Not there yet.");
  }

  load(): { running: number; waiting: number } {
    return { running: this.#lanes.running, waiting: this.#lanes.waiting };
  }

  async warm(): Promise<void> {
    await this.#open(this.#profile(DEFAULT_AGENT));
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
    const { store, clock, log, publish } = this.#options;
    const profile = this.#profile(request.agent ?? DEFAULT_AGENT);
    const agent = profile.name;
    const model = modelName(profile.model);
    const cost = (progress: TurnProgress): number | undefined => costUsd(profile.model, progress);
    const keeper = new TurnKeeper({ store, clock, log, history: this.#history, model, cost });
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
    const { clientId } = request;
    emit({ type: "turn-start", turnId: progress.id, agent, sessionId: conversation.name, clientId });
    const limit = new TimeLimit(clock, profile.turn.timeoutMs, request.signal);
    let ok = false;
    try {
      const settings = await this.#open(profile);
      limit.signal.throwIfAborted();
      const response = await runTurn({
        request,
        settings,
        environment: profile.environment,
        history: conversation.messages,
        progress,
        limit,
        emit,
      });
      await keeper.keep(request, conversation, progress);
      ok = true;
      const { id: turnId, inputTokens, outputTokens } = progress;
      const sessionId = conversation.name;
      return { turnId, agent, response, model, sessionId, inputTokens, outputTokens, costUsd: cost(progress) };
    } catch (error) {
      await keeper.keepFailed(request, conversation, progress);
      throw error instanceof SvcError ? error : new SvcError("TURN_FAILED", undefined, { cause: error });
    } finally {
      limit.end();
      emit({
        type: "turn-end",
        turnId: progress.id,
        agent,
        ok,
        model,
        durationMs: clock.monotonic() - startedAt,
        inputTokens: progress.inputTokens,
        outputTokens: progress.outputTokens,
        costUsd: cost(progress),
      });
    }
  }

  #profile(name: string): AgentProfile {
    const profile = this.#agents.profiles.get(name);
    if (!profile) throw new SvcError("AGENT_UNKNOWN");
    return profile;
  }

  #open(profile: AgentProfile): Promise<TurnSettings> {
    const known = this.#settings.get(profile);
    if (known) return known;
    const opening = this.#read(profile);
    this.#settings.set(profile, opening);
    opening.catch(() => this.#settings.delete(profile));
    return opening;
  }

  async #read(profile: AgentProfile): Promise<TurnSettings> {
    const { model } = profile;
    return {
      model: this.#options.model ?? (await openModel(model)),
      instructions: profile.instructions,
      maxSteps: profile.turn.maxSteps,
      maxRetries: model.max_retries,
      maxOutputTokens: model.max_output_tokens,
      // The built-in model reads no schemas, so making them would only cost start-up time.
      functionTools:
        model.provider === "builtin" && !this.#options.model ? [] : await functionTools(profile.environment.tools),
    };
  }
}
