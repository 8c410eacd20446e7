/** The agents of one service: brings queue, history, models, budget and sessions together. */
import {
  type AgentLoan,
  type AgentRights,
  type Borrower,
  type ClientId,
  type Clock,
  type Logger,
  type SessionEvent,
  SvcError,
  type TurnEvent,
} from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/config";
import { type Tracer, NO_TRACER } from "@svc/runtime";
import type { Store } from "@svc/store";
import { Commands, answerCommand, answerStop } from "./commands.ts";
import { type Command, commandOf, isStopCommand } from "./command-words.ts";
import { type LenderDeps, lend } from "./loan.ts";
import { AgentModels, ChosenModels, type ModelOpener, modelName } from "./models/agent-models.ts";
import { testModel } from "./test-model.ts";
import { Budget, Spending } from "./cost.ts";
import type { LimitedClient } from "./tools/environment.ts";
import type { AgentProfile, AgentSet } from "./profiles.ts";
import { Sessions } from "./sessions/sessions.ts";
import { Titles, titleProfile } from "./sessions/titles.ts";
import type { SessionService } from "./sessions/types.ts";
import { ActiveTurn, ActiveTurns, LimitTimer, type Permit, REMOVED, TurnQueue } from "./turn/active-turns.ts";
import { type Conversation, History, conversationKey, newSessionName } from "./turn/history.ts";
import { TurnExecutor } from "./turn/execute.ts";
import { followingUp } from "./turn/follow-up.ts";
import { SentMessages, TurnStore } from "./turn/turn-store.ts";
import type { ModelTest, AbandonedTurn, Agent, AskPerson, CommandRequest, TurnRequest, TurnResult } from "./types.ts";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Attachments } from "./attachments.ts";
import type { Redaction } from "./turn/model-call.ts";

export function createAgent(options: AgentOptions): Agent {
  return new RunningAgent(options);
}

class RunningAgent implements Agent {
  readonly sessions: SessionService;
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #queue: TurnQueue;
  readonly #timer: LimitTimer;
  readonly #active = new ActiveTurns();
  readonly #history: History;
  readonly #models: AgentModels;
  readonly #spending: Spending;
  readonly #chosen: ChosenModels;
  readonly #commands: Commands;
  readonly #budget: Budget;
  readonly #redact: (text: string) => string;
  readonly #publish: AgentOptions["publish"];
  readonly #turns: TurnStore;
  readonly #executor: TurnExecutor;
  readonly #lender: LenderDeps;
  readonly #messages: SentMessages;
  readonly #titles: Titles;
  #agents: AgentSet;

  constructor({ agents, store, clock, log, publish, isListened, ask, model, attachments, ...options }: AgentOptions) {
    const redaction = redactionOf(options);
    const budget = new Budget(store.usage, clock);
    const { tracer = NO_TRACER, limitedClient = (clientId) => clientId } = options;
    this.#agents = agents;
    this.#clock = clock;
    this.#store = store;
    this.#queue = new TurnQueue(agents.maxParallelTurns);
    this.#timer = new LimitTimer(clock);
    const timer = this.#timer;
    this.#history = new History(store, agents.historyMaxTokens);
    this.#models = new AgentModels(openerOf(model));
    this.#spending = new Spending(store, budget);
    this.#chosen = new ChosenModels(store);
    this.#commands = new Commands({ store, clock, history: this.#history, budget, chosen: this.#chosen });
    const profileOf = (name: string): AgentProfile | undefined => this.#agents.profiles.get(name);
    const spending = this.#spending;
    const { redact } = redaction;
    this.#budget = budget;
    this.#redact = redact;
    this.#publish = publish;
    const turns = (this.#turns = new TurnStore({ store, clock, log, history: this.#history, spending, redact }));
    const reporting = { log, tracer, redaction, publish, isListened };
    const models = this.#models;
    this.#lender = { models, budget, limitedClient, spending, clock, timer, redaction, profileOf, ask };
    this.#executor = new TurnExecutor({
      ...this.#lender,
      store,
      turns,
      history: this.#history,
      ...reporting,
      attachments,
    });
    this.#messages = new SentMessages({
      store,
      log,
      publish,
      executor: this.#executor,
      active: this.#active,
      history: this.#history,
      attachments,
    });
    const sessions = new Sessions({
      store,
      clock,
      active: this.#active,
      queue: this.#queue,
      history: this.#history,
      redact,
      publish,
      profileOf,
    });
    this.sessions = sessions;
    this.#titles = new Titles({
      store,
      clock,
      timer,
      log,
      models: this.#models,
      budget,
      spending,
      redact,
      isIdle: () => this.#queue.running === 0,
      changed: (id) => sessions.changed(id),
    });
  }

  get model(): string {
    return modelName(this.#profileOf(DEFAULT_AGENT).model);
  }

  reconfigure(agents: AgentSet): void {
    this.#agents = agents;
    this.#models.keepOnly(agents.profiles);
    this.#history.resize(agents.historyMaxTokens);
    this.#queue.resize(agents.maxParallelTurns);
  }

  reread(): void {
    this.#history.clear();
  }

  async test(name: string = DEFAULT_AGENT, signal: AbortSignal): Promise<ModelTest> {
    const deps = {
      models: this.#models,
      budget: this.#budget,
      spending: this.#spending,
      clock: this.#clock,
      timer: this.#timer,
      redact: this.#redact,
    };
    return testModel(deps, this.#profileOf(name), signal);
  }

  lend(rights: AgentRights, borrower: Borrower): AgentLoan {
    return lend(this.#lender, rights, borrower);
  }

  load(): { running: number; waiting: number } {
    return { running: this.#queue.running, waiting: this.#queue.waiting };
  }

  async warm(): Promise<void> {
    await this.#models.settingsOf(this.#profileOf(DEFAULT_AGENT));
  }

  async run(asked: TurnRequest): Promise<TurnResult> {
    const turn = this.#turnOf(asked);
    const { request } = turn;
    try {
      const profile = this.#profileOf(turn.agent);
      const mayBeCommand = !turn.hasFiles && request.text.includes("/");
      if (mayBeCommand && isStopCommand(request.text)) {
        return await answerStop(this.#store, turn, profile, this.#active.stop(turn.key, "/stop"));
      }
      const command = mayBeCommand && request.takesCommands ? commandOf(request.text) : undefined;
      if (command) return await this.#queue.run(turn.key, () => this.#answer(turn, command), turn.limit);
      this.#active.add(turn);
      this.#storeMessage(turn);
      // It joins the queue at once: the next message must not overtake it.
      const result = await this.#queue.run(turn.key, (permit) => this.#begin(turn, permit), turn.limit);
      if (turn.isFirst && request.title === undefined) this.#wantTitle(turn);
      return result;
    } catch (error) {
      if (!turn.isBegun) await turn.ready?.catch(() => {});
      if (turn.storedIn !== undefined && !turn.isBegun) await this.#endUnstarted(turn, error);
      throw error;
    } finally {
      this.#active.delete(turn);
      turn.limit.end();
      if (this.#agents.titleModel !== undefined) void this.#titles.whileIdle();
      // The turn itself settles what it was begun with. Before that nothing acted, so the key is new again.
      if (!turn.isBegun && request.claim) this.#store.idempotency.release(request.claim);
    }
  }

  #turnOf(asked: TurnRequest): ActiveTurn {
    const chosen = this.#agentFor(asked.agent, asked.owner ?? asked.clientId, asked.session);
    const request = asked.after ? this.#followingUp({ ...asked, agent: chosen }) : asked;
    const agent = asked.after ? (request.agent ?? DEFAULT_AGENT) : chosen;
    const name = request.session ?? newSessionName();
    return new ActiveTurn(request, { agent, name, clock: this.#clock, timer: this.#timer });
  }

  /** Its message goes to disk by itself, unless another one holds it; what it takes the place of is marked there. */
  #storeMessage(turn: ActiveTurn): void {
    const { request } = turn;
    if (!request.resumable) {
      const conversation = this.#open(turn);
      turn.openedAs = conversation.id;
      turn.ready = turn.storing = this.#messages.keep(turn, conversation);
    } else if (request.replaces !== undefined) turn.ready = this.#messages.replace(turn, request.replaces);
    turn.ready?.catch(ignore);
  }

  #open(turn: ActiveTurn): Conversation {
    const { owner, name, key, request } = turn;
    if (request.session === undefined) return (turn.unnamed ??= this.#history.fresh(owner, name));
    return this.#history.open(owner, name, turn.storedIn ?? turn.openedAs, key);
  }

  /** Its conversation is free, and it has a permit. */
  #begin(turn: ActiveTurn, permit: Permit): Promise<TurnResult> {
    const { request } = turn;
    turn.permit = permit;
    // The turn that it follows or replaces has to be settled first, and its files have to be there.
    const mustWait = request.after !== undefined || request.replaces !== undefined || turn.hasFiles;
    return mustWait ? Promise.resolve(turn.ready).then(() => this.#execute(turn)) : this.#execute(turn);
  }

  #execute(turn: ActiveTurn): Promise<TurnResult> {
    const { request, owner, name } = turn;
    // Its conversation was removed while it waited: it must not begin anew with half of what was said.
    const isGone = request.after !== undefined && this.#store.sessions.find(owner, name) === undefined;
    if (isGone) throw new SvcError("SESSION_UNKNOWN", undefined, { cause: REMOVED });
    // A reload while it waited may have changed the agent, or removed it.
    const profile = this.#profileOf(turn.agent);
    const answering = request.session === undefined ? profile : this.#chosen.profileFor(profile, owner, name);
    turn.isBegun = true;
    const conversation = this.#open(turn);
    turn.isFirst = conversation.place === undefined;
    return this.#executor.executeTurn(turn, answering, conversation);
  }

  #wantTitle({ owner, name, agent, request }: ActiveTurn): void {
    const { titleModel, profiles } = this.#agents;
    const profile = profiles.get(agent);
    const titling = profile && titleModel !== undefined ? titleProfile(profile, titleModel) : undefined;
    const client = this.#lender.limitedClient(request.clientId);
    if (titling) this.#titles.want({ owner, name, profile: titling, client });
  }

  /** Nothing of the conversation may run or wait: of two who want to go on from the same turn, one is first. */
  #followingUp(request: TurnRequest): TurnRequest {
    const { after, owner = request.clientId, session } = request;
    if (!after || session === undefined) throw new SvcError("TURN_UNKNOWN");
    if (this.#active.count(conversationKey(owner, session)) > 0) {
      throw new SvcError("TURN_RUNNING", undefined, { hint: "Stop it first, or wait for its end." });
    }
    const place = this.#store.sessions.find(owner, session);
    if (!place) throw new SvcError("SESSION_UNKNOWN");
    return followingUp(this.#store.sessions, place, { ...request, after });
  }

  /** In the queue: behind what ran before it. */
  async #endUnstarted(turn: ActiveTurn, error: unknown): Promise<void> {
    const failure = error instanceof SvcError ? error : new SvcError("TURN_FAILED", undefined, { cause: error });
    const profile = this.#profileOrDefault(turn.agent);
    const end = () =>
      this.#executor.endUnstarted(turn, { profile: profile!, conversation: this.#open(turn), error: failure });
    if (profile) await this.#queue.alone(turn.key, end);
  }

  recover(): Promise<void> {
    return this.#messages.recover((agent) => this.#profileOrDefault(agent));
  }

  /** A reload, or a start, may have removed the agent. */
  #profileOrDefault(agent: string): AgentProfile | undefined {
    return this.#agents.profiles.get(agent) ?? this.#agents.profiles.get(DEFAULT_AGENT);
  }

  async replyByHand({ owner, session, ...reply }: Parameters<Agent["replyByHand"]>[0]): Promise<void> {
    const key = conversationKey(owner, session);
    if (this.#active.count(key) > 0) throw new SvcError("TURN_RUNNING", undefined, { hint: "Stop it first." });
    await this.#queue.alone(key, () => this.#turns.keepByHand(this.#history.open(owner, session), reply));
    const { turnId } = reply;
    const { id: conversationId } = this.#history.open(owner, session);
    this.#publish?.({ type: "turn-store", turnId, sessionId: session, conversationId, owner });
  }

  stop(owner: ClientId, session: string, by: string): boolean {
    return this.#active.stop(conversationKey(owner, session), by);
  }

  drain(): void {
    this.#titles.stop();
    this.#active.drain();
  }

  #answer(turn: ActiveTurn, command: Command): Promise<TurnResult> {
    const { limitedClient } = this.#lender;
    const waiting = this.#active.count(turn.key);
    const deps = { store: this.#store, commands: this.#commands, waiting, limitedClient };
    return answerCommand(deps, turn, this.#profileOf(turn.agent), command);
  }

  async command({ agent, owner, session, command, clientId, ...more }: CommandRequest): Promise<string> {
    const settle = async (): Promise<string> => {
      const profile = this.#profileOf(this.#agentFor(agent, owner, session));
      const client = this.#lender.limitedClient(clientId);
      return this.#commands.settle(command, { ...more, profile, owner, name: session, client });
    };
    return this.#queue.alone(conversationKey(owner, session), settle);
  }

  async abandon({ agent: asked, owner, session, ...turn }: AbandonedTurn): Promise<void> {
    const agent = this.#agentFor(asked, owner, session);
    // A reload may have removed the agent, which is why nobody tries again.
    const known = this.#agents.profiles.get(agent) ?? this.#profileOf(DEFAULT_AGENT);
    const abandon = (): Promise<void> => {
      const profile = this.#chosen.profileFor(known, owner, session);
      const conversation = this.#history.open(owner, session);
      return this.#executor.abandon({ ...turn, profile, conversation, error: turn.error });
    };
    // In the queue, as the removal of the conversation is.
    await this.#queue.alone(conversationKey(owner, session), abandon);
  }

  /** Who answers there: chosen for the conversation, else asked for. One that the config has no more is not chosen. */
  #agentFor(asked: string = DEFAULT_AGENT, owner: ClientId, session: string | undefined): string {
    const chosen = session === undefined ? undefined : this.#store.conversations.choiceOf(owner, session).agent;
    return chosen !== undefined && this.#agents.profiles.has(chosen) ? chosen : asked;
  }

  #profileOf(name: string): AgentProfile {
    const profile = this.#agents.profiles.get(name);
    if (!profile) throw new SvcError("AGENT_UNKNOWN", undefined, { hint: "See [agents] in config.toml." });
    return profile;
  }
}

/** What an agent is made with. */
export interface AgentOptions {
  readonly agents: AgentSet;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of turns and what is part of them. Default: nobody is. */
  readonly tracer?: Tracer;
  /** Takes the configured secrets out of what leaves the process: answers, what tools give to the model, old messages. */
  readonly redact?: (text: string) => string;
  /** How many characters at the end of a text may be the beginning of a secret. Without it no answer is told in pieces. */
  readonly partialSecret?: (text: string) => number;
  /** Told every event of every turn, and changes of conversations. */
  readonly publish?: (event: TurnEvent | SessionEvent) => void;
  /** Whether somebody reads what is published now: answers are told in pieces then. Default: nobody does. */
  readonly isListened?: () => boolean;
  /** Asks a person in turns whose caller brings nobody. Without it their acting calls that must be asked for are refused. */
  readonly ask?: AskPerson;
  /** Client whose limits a caller counts against. Default: its own. */
  readonly limitedClient?: LimitedClient;
  /** Files that come with messages. Default: none can. */
  readonly attachments?: Attachments;
  /** In place of the models that the config names; for tests. */
  readonly model?: LanguageModelV4 | ModelOpener;
}

const ignore = (): void => {};

function openerOf(model: LanguageModelV4 | ModelOpener | undefined): ModelOpener | undefined {
  return typeof model === "object" ? () => model : model;
}

function redactionOf({ redact, partialSecret }: Pick<AgentOptions, "redact" | "partialSecret">): Redaction {
  if (!redact) return { redact: (text) => text, partial: () => 0 };
  return { redact, partial: partialSecret ?? ((text) => text.length) };
}
