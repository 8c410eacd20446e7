/** The agents of one service: brings lanes, history, models, budget and sessions together. */
import { type ClientId, type Clock, SvcError } from "@svc/contract";
import { DEFAULT_AGENT, NO_INSTRUMENTS } from "@svc/kernel";
import type { Store } from "@svc/store";
import { type AgentOptions, openerOf, redactionOf } from "./agent-options.ts";
import { answerCommand } from "./commands/answer-command.ts";
import { type Command, commandOf } from "./commands/command.ts";
import { Commands } from "./commands/commands.ts";
import { AgentModels } from "./models/agent-models.ts";
import { ChosenModels } from "./models/chosen-models.ts";
import { modelName } from "./models/open-model.ts";
import { type ModelTest, testModel } from "./models/test-model.ts";
import { Budget } from "./money/budget.ts";
import { Spending } from "./money/spending.ts";
import type { AgentProfile, AgentSet } from "./profiles.ts";
import { Sessions } from "./sessions/sessions.ts";
import type { SessionService } from "./sessions/types.ts";
import { ActiveTurn, ActiveTurns } from "./turn/active-turns.ts";
import { conversationKey, History, newSessionName } from "./turn/history.ts";
import { TurnKeeper } from "./turn/keep-turn.ts";
import { Lanes } from "./turn/lanes.ts";
import type { Place } from "./turn/place.ts";
import { answerStop, isStopCommand } from "./turn/stop-command.ts";
import { abandonTurn, type TurnDeps, wholeTurn } from "./turn/whole-turn.ts";
import type { AbandonedTurn, CommandRequest, TurnRequest, TurnResult, TurnRunner } from "./types.ts";

export interface Agent extends TurnRunner {
  /** Name of the default agent's model. */
  readonly model: string;
  readonly sessions: SessionService;
  /**
   * From here on `agents` are in force. A turn that runs keeps its model and the tools it was offered, but each further
   * tool call of it is judged and run as the new set says: who locks down is obeyed at once. Never throws.
   */
  reconfigure(agents: AgentSet): void;
  /** Stops what runs and waits in a conversation, for the reason that `by` completes. False: nothing could be stopped. */
  stop(owner: ClientId, session: string, by: string): boolean;
  /**
   * The service stops: turns that wait for a person are called off, and so is any that would begin to. A resumable one asks
   * again when it is taken up (`isPostponed`).
   */
  drain(): void;
  /**
   * Ends a resumable turn that does not run. What acted in it stays in the conversation, unless that was removed. Rejects
   * with STORE_*, and then nothing has changed.
   */
  abandon(turn: AbandonedTurn): Promise<void>;
  /**
   * Settles a command of a conversation, behind whatever runs there. Resolves with its answer. Rejects with AGENT_UNKNOWN, STORE_*,
   * and what `alongside` throws; then nothing has changed.
   */
  command(request: CommandRequest): Promise<string>;
  /** Conversations were removed from disk by somebody else (retention): no model must be told of them any more. */
  reread(): void;
  /** One tiny model call without tools, for `svc model test`. Throws AGENT_UNKNOWN, TURN_CANCELLED. */
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
  readonly sessions: SessionService;
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #lanes: Lanes;
  readonly #active = new ActiveTurns();
  readonly #history: History;
  readonly #models: AgentModels;
  readonly #spending: Spending;
  readonly #chosen: ChosenModels;
  readonly #commands: Commands;
  readonly #turns: TurnDeps;
  #agents: AgentSet;

  constructor({ agents, store, clock, log, publish, isListened, ask, model, ...options }: AgentOptions) {
    const redaction = redactionOf(options);
    const budget = new Budget(store.usage, clock);
    const { instruments = NO_INSTRUMENTS } = options;
    this.#agents = agents;
    this.#clock = clock;
    this.#store = store;
    this.#lanes = new Lanes(agents.maxParallelTurns);
    this.#history = new History(store, agents.historyMaxTokens);
    this.#models = new AgentModels(openerOf(model));
    this.#spending = new Spending(store, budget);
    this.#chosen = new ChosenModels(store);
    this.#commands = new Commands({ store, clock, history: this.#history, budget, chosen: this.#chosen });
    const profileOf = (name: string): AgentProfile | undefined => this.#agents.profiles.get(name);
    const spending = this.#spending;
    const { redact } = redaction;
    const keeper = new TurnKeeper({ store, clock, log, history: this.#history, spending, redact });
    const telling = { log, instruments, redaction, publish, isListened };
    this.#turns = { store, clock, models: this.#models, budget, spending, keeper, ...telling, ask, profileOf };
    this.sessions = new Sessions({ store, active: this.#active, lanes: this.#lanes, history: this.#history, redact });
  }

  get model(): string {
    return modelName(this.#profileOf(DEFAULT_AGENT).model);
  }

  reconfigure(agents: AgentSet): void {
    this.#agents = agents;
    this.#models.keepOnly(agents.profiles);
    this.#history.resize(agents.historyMaxTokens);
    this.#lanes.resize(agents.maxParallelTurns);
  }

  reread(): void {
    this.#history.clear();
  }

  async test(name: string = DEFAULT_AGENT, signal: AbortSignal): Promise<ModelTest> {
    const { budget } = this.#turns;
    const parts = { models: this.#models, budget, spending: this.#spending, clock: this.#clock };
    return testModel(parts, this.#profileOf(name), signal);
  }

  load(): { running: number; waiting: number } {
    return { running: this.#lanes.running, waiting: this.#lanes.waiting };
  }

  async warm(): Promise<void> {
    await this.#models.settingsOf(this.#profileOf(DEFAULT_AGENT));
  }

  async run(request: TurnRequest): Promise<TurnResult> {
    const turn = new ActiveTurn(request, request.session ?? newSessionName(), this.#clock);
    let isHanded = false;
    const start = (place: Place): Promise<TurnResult> => {
      turn.place = place;
      // A reload while it waited may have changed the agent, or removed it.
      const profile = this.#profileOf(turn.agent);
      const { owner, name } = turn;
      const isNamed = request.session !== undefined;
      const answering = isNamed ? this.#chosen.profileFor(profile, owner, name) : profile;
      const conversation = isNamed ? this.#history.open(owner, name) : this.#history.fresh(owner, name);
      isHanded = true;
      return wholeTurn(this.#turns, turn, answering, conversation);
    };
    try {
      const profile = this.#profileOf(turn.agent);
      if (isStopCommand(request.text)) {
        return await answerStop(this.#store, turn, profile, this.#active.stop(turn.key, "/stop"));
      }
      const command = request.takesCommands ? commandOf(request.text) : undefined;
      if (command) return await this.#lanes.run(turn.key, () => this.#answer(turn, command), turn.limit.signal);
      this.#active.add(turn);
      return await this.#lanes.run(turn.key, start, turn.limit.signal);
    } finally {
      this.#active.delete(turn);
      turn.limit.end();
      // The turn itself settles what was handed to it. Before that nothing acted, so the key is new again.
      if (!isHanded && request.claim) this.#store.idempotency.release(request.claim);
    }
  }

  stop(owner: ClientId, session: string, by: string): boolean {
    return this.#active.stop(conversationKey(owner, session), by);
  }

  drain(): void {
    this.#active.drain();
  }

  #answer(turn: ActiveTurn, command: Command): Promise<TurnResult> {
    const parts = { store: this.#store, commands: this.#commands, waiting: this.#active.count(turn.key) };
    return answerCommand(parts, turn, this.#profileOf(turn.agent), command);
  }

  async command({ agent = DEFAULT_AGENT, owner, session, command, ...more }: CommandRequest): Promise<string> {
    const settle = async (): Promise<string> => {
      return this.#commands.settle(command, { ...more, profile: this.#profileOf(agent), owner, name: session });
    };
    return this.#lanes.alone(conversationKey(owner, session), settle);
  }

  async abandon({ agent = DEFAULT_AGENT, owner, session, turnId, error, alongside }: AbandonedTurn): Promise<void> {
    // A reload may have removed the agent, which is why nobody tries again.
    const known = this.#agents.profiles.get(agent) ?? this.#profileOf(DEFAULT_AGENT);
    const abandon = (): Promise<void> => {
      const profile = this.#chosen.profileFor(known, owner, session);
      const conversation = this.#history.open(owner, session);
      return abandonTurn(this.#turns, { turnId, profile, conversation, error, alongside });
    };
    // In the lane, as whoever removes the conversation is.
    await this.#lanes.alone(conversationKey(owner, session), abandon);
  }

  #profileOf(name: string): AgentProfile {
    const profile = this.#agents.profiles.get(name);
    if (!profile) throw new SvcError("AGENT_UNKNOWN", undefined, { hint: "See [agents] in config.toml." });
    return profile;
  }
}
