/** What was spent, from the meter of a turn to the disk. The built-in model costs nothing and leaves no line. */
import type { Store, TurnUsage } from "@svc/store";
import { modelName } from "../models/open-model.ts";
import type { AgentProfile } from "../profiles.ts";
import type { Budget } from "./budget.ts";
import type { Meter } from "./meter.ts";

export class Spending {
  readonly #store: Store;
  readonly #budget: Budget;

  constructor(store: Store, budget: Budget) {
    this.#store = store;
    this.#budget = budget;
  }

  /** For a turn that leaves nothing else. Rejects with STORE_*; the running process counts it all the same. */
  async record(profile: AgentProfile, meter: Meter): Promise<void> {
    const spent = this.toRecord(profile, meter);
    if (!spent) return;
    await this.#store.write(() => spent.write());
    spent.settle();
  }

  /** `write` goes into a transaction, `settle` comes after its commit. Undefined: there is nothing to record. */
  toRecord({ name, model }: AgentProfile, meter: Meter): { write(): void; settle(): void } | undefined {
    if (model.provider === "builtin" || !meter.isUsed) return undefined;
    const day = this.#budget.openDay(name);
    const { inputTokens, outputTokens, costUsd, spentUsd } = meter;
    const estimate = costUsd === undefined && { estimatedUsd: spentUsd };
    const used = { inputTokens, outputTokens, costUsd, ...estimate };
    const usage: TurnUsage = { day, agent: name, model: modelName(model), ...used };
    return {
      write: () => this.#store.usage.add(usage),
      settle: () => this.#budget.recorded(name, day, spentUsd),
    };
  }
}
