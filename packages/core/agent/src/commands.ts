/** Commands of a conversation, such as `/new`: what each changes, and its answer, in one transaction. */
import type { ClientId, Clock } from "@svc/contract";
import type { Store } from "@svc/store";
import { ChosenModels, choosableNames, modelName } from "./models/agent-models.ts";
import type { Budget } from "./cost.ts";
import type { LimitedClient } from "./tools/environment.ts";
import type { AgentProfile } from "./profiles.ts";
import type { History } from "./turn/history.ts";
import {
  BEGUN_ANEW,
  type Command,
  GREETING,
  HELP,
  type Spent,
  modelRefused,
  modelTaken,
  modelWords,
  statusWords,
} from "./command-words.ts";
import type { ActiveTurn } from "./turn/active-turns.ts";
import type { TurnResult } from "./types.ts";

export interface CommandDeps {
  readonly store: Pick<Store, "conversations" | "grants" | "sessions" | "write">;
  readonly clock: Pick<Clock, "now">;
  readonly history: Pick<History, "forget">;
  readonly budget: Pick<Budget, "spentUsd">;
  readonly chosen: ChosenModels;
}

/** Whose conversation it is said in. */
export interface CommandPlace {
  /** Of the agent that answers there, as the config makes it. */
  readonly profile: AgentProfile;
  readonly owner: ClientId;
  readonly name: string;
  /** Whose limits count: who says it. */
  readonly client: ClientId;
  /** Messages that wait there behind it. */
  readonly waiting: number;
  /** Runs inside the transaction. */
  readonly inTransaction: (response: string) => void;
}

interface Settled {
  readonly response: string;
  /** Inside the transaction. */
  readonly write?: () => void;
}

/** Turns whose use is summed up; each is read from disk. */
const USED_TURNS = 1_000;
const DEFAULT = "default";

export class Commands {
  readonly #deps: CommandDeps;

  constructor(deps: CommandDeps) {
    this.#deps = deps;
  }

  /** In the conversation's queue, so that nothing of it is under way. Rejects with STORE_*, and then nothing has changed. */
  async settle(command: Command, place: CommandPlace): Promise<string> {
    const { store, history } = this.#deps;
    const { response, write } = this.#settled(command, place);
    await store.write(() => {
      write?.();
      place.inTransaction(response);
    });
    if (command.name === "new") history.forget({ clientId: place.owner, name: place.name });
    return response;
  }

  /** The agent as it answers there now. */
  answering({ profile, owner, name }: Pick<CommandPlace, "profile" | "owner" | "name">): AgentProfile {
    return this.#deps.chosen.profileFor(profile, owner, name);
  }

  #settled(command: Command, place: CommandPlace): Settled {
    switch (command.name) {
      case "new":
        return { response: BEGUN_ANEW, write: () => this.#beginAnew(place) };
      case "model":
        return command.choice === undefined ? { response: this.#models(place) } : this.#choose(command.choice, place);
      case "status":
        return { response: this.#status(place) };
      case "help":
        return { response: HELP };
      case "start":
        return { response: GREETING };
    }
  }

  /** The old one stays to be looked at, and what was chosen there holds. */
  #beginAnew({ owner, name }: CommandPlace): void {
    const { conversations, grants, sessions } = this.#deps.store;
    sessions.putAside(owner, name);
    // Also those of a conversation of which nothing is kept yet.
    grants.end(owner, name);
    const chosen = conversations.modelOf(owner, name);
    if (chosen !== undefined) conversations.choose(owner, name, chosen, this.#deps.clock.now());
  }

  #models(place: CommandPlace): string {
    return modelWords(modelName(this.answering(place).model), choosableNames(place.profile));
  }

  #choose(choice: string, { profile, owner, name }: CommandPlace): Settled {
    const { store, clock } = this.#deps;
    const names = choosableNames(profile);
    const [standing] = names as [string];
    const chosen = choice.toLowerCase() === DEFAULT ? standing : nameAmong(names, choice);
    if (chosen === undefined) return { response: modelRefused(names) };
    const override = chosen === standing ? undefined : chosen;
    return {
      response: modelTaken(chosen),
      write: () => store.conversations.choose(owner, name, override, clock.now()),
    };
  }

  #status(place: CommandPlace): string {
    const { store, budget } = this.#deps;
    const { model, name: agent, maxCostPerDay, clientMaxCostPerDay } = this.answering(place);
    const session = store.sessions.find(place.owner, place.name);
    return statusWords({
      agent,
      model: modelName(model),
      waiting: place.waiting,
      used: session && store.sessions.usageOf(session, USED_TURNS),
      usedLimit: USED_TURNS,
      today: spentOf(maxCostPerDay, () => budget.spentUsd(agent)),
      byYou:
        clientMaxCostPerDay === maxCostPerDay
          ? undefined
          : spentOf(clientMaxCostPerDay, () => budget.spentUsd(agent, place.client)),
    });
  }
}

const spentOf = (limitUsd: number | undefined, spentUsd: () => number): Spent | undefined =>
  limitUsd === undefined ? undefined : { spentUsd: spentUsd(), limitUsd };

/** People type on telephones, which begin with a capital letter. */
function nameAmong(names: readonly string[], choice: string): string | undefined {
  if (names.includes(choice)) return choice;
  const alike = names.filter((name) => name.toLowerCase() === choice.toLowerCase());
  return alike.length === 1 ? alike[0] : undefined;
}

interface AnswerDeps {
  readonly store: Pick<Store, "idempotency">;
  readonly commands: Commands;
  /** Messages that wait behind it. */
  readonly waiting: number;
  readonly limitedClient: LimitedClient;
}

/** A command whose sender waits for the answer: at the terminal, on the page, in a request. */
export async function answerCommand(
  { store, commands, waiting, limitedClient }: AnswerDeps,
  turn: ActiveTurn,
  profile: AgentProfile,
  command: Command,
): Promise<TurnResult> {
  const { claim, inTransaction } = turn.request;
  const { owner, name } = turn;
  const response = await commands.settle(command, {
    profile,
    owner,
    name,
    client: limitedClient(turn.request.clientId),
    waiting,
    inTransaction(response) {
      if (claim) store.idempotency.keep(claim, turn.id, "done");
      inTransaction?.({ response });
    },
  });
  return commandResult(turn, commands.answering({ profile, owner, name }), response);
}

/** No model has answered, and nothing was used. */
function commandResult(
  { id: turnId, name: sessionId }: ActiveTurn,
  profile: AgentProfile,
  response: string,
): TurnResult {
  const { name: agent, model } = profile;
  return { turnId, agent, response, model: modelName(model), sessionId, inputTokens: 0, outputTokens: 0, costUsd: 0 };
}

/** Of a `/stop` only the idempotency key is stored: one that is sent again must not stop the turn after. */
export async function answerStop(
  store: Store,
  turn: ActiveTurn,
  profile: AgentProfile,
  isStopped: boolean,
): Promise<TurnResult> {
  const { claim, inTransaction } = turn.request;
  const response = isStopped ? "Stopped." : "Nothing was running.";
  if (claim || inTransaction) {
    await store.write(() => {
      if (claim) store.idempotency.keep(claim, turn.id, "done");
      inTransaction?.({ response });
    });
  }
  return commandResult(turn, profile, response);
}
