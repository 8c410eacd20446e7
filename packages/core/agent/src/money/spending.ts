/** What was spent, from the meter of a turn to the disk. The built-in model costs nothing and leaves no line. */
import type { Store, TurnUsage } from "@svc/store";
import { modelName } from "../models/open-model.ts";
import type { AgentProfile } from "../profiles.ts";
import type { Budget } from "./budget.ts";
import { type Meter, costUsd } from "./meter.ts";

export interface Unsettled {
  /** Inside a transaction. */
  write(): void;
  /** After its commit. */
  settle(): void;
}

export class Spending {
  readonly #store: Store;
  readonly #budget: Budget;

  constructor(store: Store, budget: Budget) {
    this.#store = store;
    this.#budget = budget;
  }

  /** For a turn that leaves nothing else. Rejects with STORE_*; the running process counts it all the same. */
  async record(profile: AgentProfile, meter: Meter): Promise<void> {
    await this.#keep(this.toRecord(profile, meter));
  }

  /** For an attempt that failed, of a turn that will be taken up again. As `record`. */
  async recordAttempt(profile: AgentProfile, meter: Meter): Promise<void> {
    await this.#keep(this.toRecordPart(profile, meter));
  }

  async #keep(spent: Unsettled | undefined): Promise<void> {
    if (!spent) return;
    await this.#store.write(() => spent.write());
    spent.settle();
  }

  /** Undefined: there is nothing to record. */
  toRecord(profile: AgentProfile, meter: Meter): Unsettled | undefined {
    return profile.model.provider === "builtin" || !meter.isUsed ? undefined : this.#unsettled(profile, meter, 1);
  }

  /** The same in the middle of a turn. */
  toRecordPart(profile: AgentProfile, meter: Meter): Unsettled | undefined {
    const { inputTokens, outputTokens, spentUsd } = meter.unrecorded;
    const isNothing = inputTokens === 0 && outputTokens === 0 && spentUsd === 0;
    return profile.model.provider === "builtin" || isNothing ? undefined : this.#unsettled(profile, meter, 0);
  }

  #unsettled({ name, model }: AgentProfile, meter: Meter, turns: 0 | 1): Unsettled {
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
