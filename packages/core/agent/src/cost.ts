/** What turns cost: the daily limits, what was spent and is recorded, and the meter of one turn. */
import { type ClientId, type Clock, SvcError } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/config";
import { type ModelConfig, modelName } from "./models/agent-models.ts";
import type { Store, TurnUsage } from "@svc/store";

/** What is on disk (`store.usage`). */
export interface SpentLedger {
  spentUsd(day: string, agent: string): number;
  spentByClientUsd(day: string, agent: string, client: ClientId): number;
}

export interface Spender {
  /** Name of the agent. */
  readonly name: string;
  readonly model: ModelConfig;
  /** US dollars a day; undefined: no limit. */
  readonly maxCostPerDay: number | undefined;
  /** The same for each client. */
  readonly clientMaxCostPerDay?: number | undefined;
}

/**
 * Days after today whose spending counts as today's: a clock that is set back must not make a used budget new. Not more
 * than a week, or a clock that once stood years ahead would lock the agent for years.
 */
const DAYS_AHEAD = 7;

/** Ten times a cent are not quite ten cents in floating point. */
const TOLERANCE_USD = 1e-9;

/** Sums of clients that are held in memory; the others are on disk. */
const CLIENTS = 1000;

/**
 * `max_cost_per_day`: what an agent may spend in a day (UTC), and `client_max_cost_per_day`: what it may spend for one client.
 * They hold over restarts, because every turn's usage is on disk with the turn, and over reloads, because the sums are kept
 * by the agent's name and the client's identity.
 *
 * What a call costs is known when it has ended. Turns that run side by side therefore can't pass a limit by more than
 * what the calls cost that are under way when it is reached; no further call begins.
 */
export class Budget {
  readonly #ledger: SpentLedger;
  readonly #clock: Pick<Clock, "now">;
  readonly #agents = new Map<string, Sum>();
  /** By agent and client. */
  readonly #clients = new Map<string, Sum>();

  constructor(ledger: SpentLedger, clock: Pick<Clock, "now">) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** Asked before every model call. `client`: who causes it; undefined: the operator, by a test. Throws COST_LIMIT. */
  check({ name, model, maxCostPerDay, clientMaxCostPerDay }: Spender, client: ClientId | undefined): void {
    if ((maxCostPerDay === undefined && clientMaxCostPerDay === undefined) || model.provider === "builtin") return;
    if (!model.price) throw unpriced(name);
    if (maxCostPerDay !== undefined && this.spentUsd(name) + TOLERANCE_USD >= maxCostPerDay) {
      throw this.#reached(undefined, keyOf(name, "max_cost_per_day"));
    }
    if (client === undefined || clientMaxCostPerDay === undefined) return;
    if (this.spentUsd(name, client) + TOLERANCE_USD >= clientMaxCostPerDay) {
      throw this.#reached("This client reached its daily cost limit.", keyOf(name, "client_max_cost_per_day"));
    }
  }

  #reached(message: string | undefined, key: string): SvcError {
    return new SvcError("COST_LIMIT", message, {
      hint: `Wait until 00:00 UTC, or raise ${key}.`,
      retryAfterMs: untilNextDayMs(this.#clock.now()),
    });
  }

  /** What counts as spent today, by all or by one client. */
  spentUsd(agent: string, client?: ClientId): number {
    const sum = this.#sumOf(agent, client);
    return this.#refreshed(sum).usd + sum.unrecordedUsd;
  }

  /** A call has cost so much. */
  spend(agent: string, client: ClientId | undefined, usd: number): void {
    for (const sum of this.#sumsOf(agent, client)) sum.unrecordedUsd += usd;
  }

  /**
   * The day to record spending under, which is read before anything is added to it: a sum read later could hold what
   * `recorded` then adds once more.
   */
  openDay(agent: string, client: ClientId | undefined): string {
    for (const sum of this.#sumsOf(agent, client)) this.#refreshed(sum);
    return utcDay(this.#clock.now());
  }

  /** So much of what was spent is on disk now, under `day`. */
  recorded(agent: string, client: ClientId | undefined, day: string, usd: number): void {
    for (const sum of this.#sumsOf(agent, client)) {
      sum.unrecordedUsd = Math.max(0, sum.unrecordedUsd - usd);
      if (sum.recorded && day >= sum.recorded.day) sum.recorded.usd += usd;
    }
  }

  #sumsOf(agent: string, client: ClientId | undefined): Sum[] {
    return client === undefined ? [this.#sumOf(agent)] : [this.#sumOf(agent), this.#sumOf(agent, client)];
  }

  #sumOf(agent: string, client?: ClientId): Sum {
    const sums = client === undefined ? this.#agents : this.#clients;
    const key = client === undefined ? agent : `${agent}\n${client}`;
    const known = sums.get(key);
    if (known) return known;
    if (this.#clients.size >= CLIENTS) this.#dropRecorded();
    const spentUsd = (day: string): number =>
      client === undefined ? this.#ledger.spentUsd(day, agent) : this.#ledger.spentByClientUsd(day, agent, client);
    const sum: Sum = { spentUsd, recorded: undefined, unrecordedUsd: 0 };
    sums.set(key, sum);
    return sum;
  }

  /** The others are nowhere else. */
  #dropRecorded(): void {
    for (const [key, { unrecordedUsd }] of this.#clients) if (unrecordedUsd === 0) this.#clients.delete(key);
  }

  #refreshed(sum: Sum): RecordedSum {
    const nowMs = this.#clock.now();
    const day = utcDay(nowMs);
    if (sum.recorded?.day === day) return sum.recorded;
    let usd = 0;
    for (let ahead = 0; ahead <= DAYS_AHEAD; ahead += 1) usd += sum.spentUsd(utcDay(nowMs + ahead * DAY_MS));
    return (sum.recorded = { day, usd });
  }
}

interface RecordedSum {
  readonly day: string;
  usd: number;
}

interface Sum {
  /** On disk, under a day. */
  readonly spentUsd: (day: string) => number;
  /** What is on disk from `day` on. */
  recorded: RecordedSum | undefined;
  /** Spent, and not on disk yet. What could not be written stays here. */
  unrecordedUsd: number;
}

/** The config check says so too; here it is the last guard against a limit that could never be reached. */
function unpriced(name: string): SvcError {
  return new SvcError("CONFIG_INVALID", "This agent has a limit of cost, but the price of its model is unknown.", {
    hint: `Add the model to [prices], or remove ${keyOf(name, "max_cost_per_day")} and client_max_cost_per_day.`,
  });
}

const keyOf = (name: string, key: string): string =>
  name === DEFAULT_AGENT ? `agent.${key}` : `agents.${name}.${key}`;

/** Days as money is counted in: UTC, the same for every operator and every provider. */
const DAY_MS = 86_400_000;

/** `YYYY-MM-DD`. */
export const utcDay = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

const untilNextDayMs = (nowMs: number): number => DAY_MS - (nowMs % DAY_MS);

type SpendingAgent = Pick<Spender, "name" | "model">;

export interface Unsettled {
  /** Inside a transaction. */
  write(): void;
  /** After its commit. */
  settle(): void;
}

/** What was spent, from the meter of a turn to the disk. The built-in model costs nothing and leaves no line. */
export class Spending {
  readonly #store: Store;
  readonly #budget: Budget;

  constructor(store: Store, budget: Budget) {
    this.#store = store;
    this.#budget = budget;
  }

  /** For a turn that leaves nothing else. Rejects with STORE_*; the running process counts it all the same. */
  async record(profile: SpendingAgent, meter: Meter): Promise<void> {
    await this.#keep(this.toRecord(profile, meter));
  }

  /** For an attempt that failed, of a turn that will be taken up again. As `record`. */
  async recordAttempt(profile: SpendingAgent, meter: Meter): Promise<void> {
    await this.#keep(this.toRecordPart(profile, meter));
  }

  async #keep(spent: Unsettled | undefined): Promise<void> {
    if (!spent) return;
    await this.#store.write(() => spent.write());
    spent.settle();
  }

  /** Undefined: there is nothing to record. */
  toRecord(profile: SpendingAgent, meter: Meter): Unsettled | undefined {
    return profile.model.provider === "builtin" || !meter.isUsed ? undefined : this.#unsettled(profile, meter, 1);
  }

  /** The same in the middle of a turn. */
  toRecordPart(profile: SpendingAgent, meter: Meter): Unsettled | undefined {
    const { inputTokens, outputTokens, spentUsd } = meter.unrecorded;
    const isNothing = inputTokens === 0 && outputTokens === 0 && spentUsd === 0;
    return profile.model.provider === "builtin" || isNothing ? undefined : this.#unsettled(profile, meter, 0);
  }

  #unsettled({ name, model }: SpendingAgent, meter: Meter, turns: 0 | 1): Unsettled {
    const { channel, client } = meter.caller;
    const day = this.#budget.openDay(name, client);
    const used = meter.unrecorded;
    const { spentUsd, ...tokens } = used;
    // Of a turn with a part that nobody counted the whole cost is unknown; each part counts against the budget all the same.
    const cost = meter.costUsd === undefined ? undefined : costUsd(model, tokens);
    const money = cost === undefined ? { costUsd: cost, estimatedUsd: spentUsd } : { costUsd: cost };
    const usage: TurnUsage = { day, agent: name, model: modelName(model), channel, client, turns, ...tokens, ...money };
    return {
      write: () => this.#store.usage.add(usage),
      settle: () => {
        meter.recorded(used);
        this.#budget.recorded(name, client, day, spentUsd);
      },
    };
  }
}

/** As the provider told them; undefined: it did not. */
export interface ReportedTokens {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** What was used from one moment to another. */
interface Usage extends Tokens {
  /** US dollars; undefined when the price is unknown, or not every call was counted. */
  readonly costUsd: number | undefined;
}

/** How far a meter was at some moment. */
interface MeterMark extends Tokens {
  /** Calls of which the provider left out some count. */
  readonly uncounted: number;
}

interface Used extends Tokens {
  /** US dollars that count against the budget: what the provider did not count is estimated. */
  readonly spentUsd: number;
}

/** For whom the model is asked. */
interface Caller {
  /** Id of the channel whose message is answered. */
  readonly channel?: string | undefined;
  /** Client whose limits it counts against. */
  readonly client?: ClientId | undefined;
}

/**
 * What one turn has used of its model so far. It is right at any moment: a turn can end in the middle. What is on disk already, with
 * a step of the turn, is counted apart from the rest, so that a resumed turn pays for nothing twice.
 */
export class Meter {
  /** As the provider counted. */
  inputTokens = 0;
  outputTokens = 0;
  /** Some call was made that may be charged. */
  isUsed = false;
  readonly caller: Caller;
  readonly #model: ModelConfig;
  readonly #onSpent: (usd: number) => void;
  #uncounted = 0;
  #unrecorded: Used = NOTHING;
  /** What earlier attempts of the turn used. */
  #earlier: MeterMark = { inputTokens: 0, outputTokens: 0, uncounted: 0 };

  /** `onSpent` is told at once what a call has cost, so that turns side by side see each other's. */
  constructor(model: ModelConfig, onSpent: (usd: number) => void, caller: Caller = {}) {
    this.caller = caller;
    this.#model = model;
    this.#onSpent = onSpent;
  }

  /** US dollars; undefined when the price is unknown, or not every call was counted. */
  get costUsd(): number | undefined {
    return this.#costOfCounted(this, this.#uncounted);
  }

  /** False: the provider left out some count. */
  get isWhole(): boolean {
    return this.#uncounted === 0;
  }

  /** What is not on disk yet. */
  get unrecorded(): Used {
    return this.#unrecorded;
  }

  /** So much of it is on disk now. */
  recorded(used: Used): void {
    this.#unrecorded = sum(this.#unrecorded, used, -1);
  }

  /** What an earlier attempt of the turn used and put on disk. */
  restore({ inputTokens, outputTokens }: Tokens, isWhole: boolean): void {
    this.isUsed = true;
    if (!isWhole) this.#uncounted += 1;
    this.inputTokens += inputTokens;
    this.outputTokens += outputTokens;
    const { inputTokens: input, outputTokens: output, uncounted } = this.#earlier;
    this.#earlier = {
      inputTokens: input + inputTokens,
      outputTokens: output + outputTokens,
      uncounted: uncounted + (isWhole ? 0 : 1),
    };
  }

  mark(): MeterMark {
    const { inputTokens, outputTokens } = this;
    return { inputTokens, outputTokens, uncounted: this.#uncounted };
  }

  /** Default: since this attempt of the turn began. */
  since(mark: MeterMark = this.#earlier): Usage {
    const tokens = {
      inputTokens: this.inputTokens - mark.inputTokens,
      outputTokens: this.outputTokens - mark.outputTokens,
    };
    return { ...tokens, costUsd: this.#costOfCounted(tokens, this.#uncounted - mark.uncounted) };
  }

  /** A call that ended. `estimate` is asked only where money depends on what the provider left out. */
  add(reported: ReportedTokens, estimate: () => Tokens): void {
    const isWhole = reported.inputTokens !== undefined && reported.outputTokens !== undefined;
    const { inputTokens = 0, outputTokens = 0 } = reported;
    this.isUsed = true;
    if (!isWhole) this.#uncounted += 1;
    this.inputTokens += inputTokens;
    this.outputTokens += outputTokens;
    const spentUsd = this.#model.price ? this.#costOf(reported, isWhole ? undefined : estimate()) : 0;
    this.#unrecorded = sum(this.#unrecorded, { inputTokens, outputTokens, spentUsd }, 1);
    if (this.#model.price) this.#onSpent(spentUsd);
  }

  #costOfCounted(tokens: Tokens, uncounted: number): number | undefined {
    return this.#model.provider === "builtin" || uncounted === 0 ? costUsd(this.#model, tokens) : undefined;
  }

  #costOf(reported: ReportedTokens, guess: Tokens = NOTHING): number {
    const { inputTokens = guess.inputTokens, outputTokens = guess.outputTokens } = reported;
    return costUsd(this.#model, { inputTokens, outputTokens }) ?? 0;
  }
}

const NOTHING: Used = { inputTokens: 0, outputTokens: 0, spentUsd: 0 };

const sum = (a: Used, b: Used, sign: 1 | -1): Used => ({
  inputTokens: a.inputTokens + sign * b.inputTokens,
  outputTokens: a.outputTokens + sign * b.outputTokens,
  spentUsd: a.spentUsd + sign * b.spentUsd,
});

/** What a turn cost. A price that the config does not set is unknown, never zero; so is the cost of uncounted tokens. */
export interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export const isPriceKnown = ({ provider, price }: ModelConfig): boolean =>
  provider === "builtin" || price !== undefined;

/** US dollars, or undefined when the model's price is unknown. */
function costUsd({ provider, price }: ModelConfig, { inputTokens, outputTokens }: Tokens): number | undefined {
  if (provider === "builtin") return 0;
  if (!price) return undefined;
  return (inputTokens * price.input_per_million + outputTokens * price.output_per_million) / 1_000_000;
}
