/**
 * `max_cost_per_day`: what an agent may spend in a day (UTC). It holds over restarts, because every turn's usage is on disk
 * with the turn, and over reloads, because the sums are kept by the agent's name.
 *
 * What a call costs is known when it has ended. Turns that run side by side therefore can't pass the limit by more than
 * what the calls cost that are under way when it is reached; no further call begins.
 */
import { type Clock, SvcError } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/kernel";
import type { ModelConfig } from "../models/open-model.ts";
import { DAY_MS, untilNextDayMs, utcDay } from "./utc-day.ts";

/** What is on disk (`store.usage`). */
export interface SpentLedger {
  spentUsd(day: string, agent: string): number;
}

export interface Spender {
  /** Name of the agent. */
  readonly name: string;
  readonly model: ModelConfig;
  /** US dollars a day; undefined: no limit. */
  readonly maxCostPerDay: number | undefined;
}

/**
 * Days after today whose spending counts as today's: a clock that is set back must not make a used budget new. Not more
 * than a week, or a clock that once stood years ahead would lock the agent for years.
 */
const DAYS_AHEAD = 7;

/** Ten times a cent are not quite ten cents in floating point. */
const TOLERANCE_USD = 1e-9;

export class Budget {
  readonly #ledger: SpentLedger;
  readonly #clock: Pick<Clock, "now">;
  /** By agent: what is on disk from `day` on. */
  readonly #recorded = new Map<string, { readonly day: string; usd: number }>();
  /** By agent: spent, and not on disk yet. What could not be written stays here. */
  readonly #unrecorded = new Map<string, number>();

  constructor(ledger: SpentLedger, clock: Pick<Clock, "now">) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** Asked before every model call. Throws COST_LIMIT. */
  check({ name, model, maxCostPerDay: limitUsd }: Spender): void {
    if (limitUsd === undefined || model.provider === "builtin") return;
    if (!model.price) throw unpriced(name);
    if (this.spentUsd(name) + TOLERANCE_USD < limitUsd) return;
    throw new SvcError("COST_LIMIT", undefined, {
      hint: `Wait until 00:00 UTC, or raise ${keyOf(name)}.`,
      retryAfterMs: untilNextDayMs(this.#clock.now()),
    });
  }

  /** What counts as spent today. */
  spentUsd(agent: string): number {
    return this.#recordedUsd(agent) + (this.#unrecorded.get(agent) ?? 0);
  }

  /** A call has cost so much. */
  spend(agent: string, usd: number): void {
    this.#unrecorded.set(agent, (this.#unrecorded.get(agent) ?? 0) + usd);
  }

  /**
   * The day to record spending under, which is read before anything is added to it: a sum read later could hold what
   * `recorded` then adds once more.
   */
  openDay(agent: string): string {
    this.#recordedUsd(agent);
    return utcDay(this.#clock.now());
  }

  /** So much of what was spent is on disk now, under `day`. */
  recorded(agent: string, day: string, usd: number): void {
    this.#unrecorded.set(agent, Math.max(0, (this.#unrecorded.get(agent) ?? 0) - usd));
    const known = this.#recorded.get(agent);
    if (known && day >= known.day) known.usd += usd;
  }

  #recordedUsd(agent: string): number {
    const nowMs = this.#clock.now();
    const day = utcDay(nowMs);
    const known = this.#recorded.get(agent);
    if (known?.day === day) return known.usd;
    let usd = 0;
    for (let ahead = 0; ahead <= DAYS_AHEAD; ahead += 1) {
      usd += this.#ledger.spentUsd(utcDay(nowMs + ahead * DAY_MS), agent);
    }
    this.#recorded.set(agent, { day, usd });
    return usd;
  }
}

/** The config check says so too; here it is the last guard against a limit that could never be reached. */
function unpriced(name: string): SvcError {
  return new SvcError("CONFIG_INVALID", "This agent has a limit of cost, but the price of its model is unknown.", {
    hint: `Add the model to [prices], or take ${keyOf(name)} away.`,
  });
}

const keyOf = (name: string): string =>
  name === DEFAULT_AGENT ? "agent.max_cost_per_day" : `agents.${name}.max_cost_per_day`;
