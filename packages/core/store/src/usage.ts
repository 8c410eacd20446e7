/** What was used: sums per day, agent and model. They outlive the conversations they were made of. */
import type { DatabaseSync } from "node:sqlite";
import type { TurnUsage, UsageTotals } from "./types.ts";

export class UsageStore {
  /** Of the open transaction, by day, agent and model: one row is written per group commit, not per turn. */
  readonly #pending = new Map<string, UsageTotals>();
  readonly #add;
  readonly #spent;
  readonly #since;

  constructor(db: DatabaseSync) {
    this.#add = db.prepare(
      `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (day, agent, model) DO UPDATE SET
         turns = turns + excluded.turns,
         input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens,
         cost_usd = cost_usd + excluded.cost_usd,
         unknown_cost_turns = unknown_cost_turns + excluded.unknown_cost_turns`,
    );
    this.#spent = db.prepare("SELECT total(cost_usd) AS spent FROM usage WHERE day = ? AND agent = ?");
    this.#since = db.prepare("SELECT * FROM usage WHERE day >= ? ORDER BY day, agent, model");
  }

  /** Inside a transaction: adds one turn. */
  add(turn: TurnUsage): void {
    const { day, agent, model } = turn;
    const key = `${day}\n${agent}\n${model}`;
    const before = this.#pending.get(key);
    this.#pending.set(key, {
      day,
      agent,
      model,
      turns: (before?.turns ?? 0) + 1,
      inputTokens: (before?.inputTokens ?? 0) + turn.inputTokens,
      outputTokens: (before?.outputTokens ?? 0) + turn.outputTokens,
      costUsd: (before?.costUsd ?? 0) + (turn.costUsd ?? 0),
      unknownCostTurns: (before?.unknownCostTurns ?? 0) + (turn.costUsd === undefined ? 1 : 0),
    });
  }

  /** US dollars that are known to have been spent; what is not on disk yet is not in it. */
  spentUsd(day: string, agent: string): number {
    return (this.#spent.get(day, agent) as { spent: number }).spent;
  }

  /** From this day on, in order. */
  list(sinceDay: string): UsageTotals[] {
    return (this.#since.all(sinceDay) as unknown as UsageRow[]).map(totalsOf);
  }

  /** Before a commit: writes the sums of its transaction. */
  flush(): void {
    for (const sums of this.#pending.values()) {
      const { day, agent, model, turns, inputTokens, outputTokens, costUsd, unknownCostTurns } = sums;
      this.#add.run(day, agent, model, turns, inputTokens, outputTokens, costUsd, unknownCostTurns);
    }
    this.#pending.clear();
  }

  /** The transaction was undone. */
  discard(): void {
    this.#pending.clear();
  }
}

interface UsageRow {
  day: string;
  agent: string;
  model: string;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  unknown_cost_turns: number;
}

function totalsOf(row: UsageRow): UsageTotals {
  return {
    day: row.day,
    agent: row.agent,
    model: row.model,
    turns: row.turns,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd,
    unknownCostTurns: row.unknown_cost_turns,
  };
}
