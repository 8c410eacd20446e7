/**
 * `max_cost_per_day`: what an agent may spend in a day (UTC), and `client_max_cost_per_day`: what it may spend for one client.
 * They hold over restarts, because every turn's usage is on disk with the turn, and over reloads, because the sums are kept
 * by the agent's name and the client's identity.
 *
 * What a call costs is known when it has ended. Turns that run side by side therefore can't pass a limit by more than
 * what the calls cost that are under way when it is reached; no further call begins.
 */
import { type ClientId, type Clock, SvcError } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/config";
import type { ModelConfig } from "../models/open-model.ts";

/** What is on disk (`store.usage`). */
export interface SpentLedger {
  spentUsd(day: string, agent: string): number;
  spentByClientUsd(day: string, agent: string, client: ClientId): number;
}

/**
 * Client whose limits a caller counts against. Callers without a token have an identity for each connection and count
 * together, or a new connection would begin with an unused limit.
 */
export type LimitedClient = (clientId: ClientId) => ClientId;

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
