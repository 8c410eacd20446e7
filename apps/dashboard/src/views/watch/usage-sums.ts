/** Sums of usage, by day and by group. */

export interface UsageLine {
  readonly day: string;
  readonly agent: string;
  readonly model: string;
  /** Empty: no channel's. */
  readonly channel: string;
  readonly turns: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly unknown_cost_turns: number;
}

export type Split = "model" | "agent" | "channel";

export interface Totals {
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly unknownCostTurns: number;
}

export interface UsagePart {
  readonly name: string;
  readonly totals: Totals;
  /** 0: the largest. */
  readonly rank: number;
}

const NONE: Totals = { turns: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unknownCostTurns: 0 };

const plus = (sum: Totals, line: UsageLine): Totals => ({
  turns: sum.turns + line.turns,
  inputTokens: sum.inputTokens + line.input_tokens,
  outputTokens: sum.outputTokens + line.output_tokens,
  costUsd: sum.costUsd + line.cost_usd,
  unknownCostTurns: sum.unknownCostTurns + line.unknown_cost_turns,
});

export function splitUsage(usage: readonly UsageLine[], split: Split) {
  const parts = new Map<string, Totals>();
  const days = new Map<string, Totals>();
  let total = NONE;
  const add = (map: Map<string, Totals>, key: string, line: UsageLine): void =>
    void map.set(key, plus(map.get(key) ?? NONE, line));
  for (const line of usage) {
    add(parts, line[split], line);
    add(days, line.day, line);
    add(days, JSON.stringify([line.day, line[split]]), line);
    total = plus(total, line);
  }
  return {
    parts: [...parts].map(([name, totals]) => ({ name, totals })),
    total,
    /** Of all parts, or of one. */
    byDay: (day: string, part?: string): Totals =>
      days.get(part === undefined ? day : JSON.stringify([day, part])) ?? NONE,
  };
}

const DAY_MS = 86_400_000;

/** Each day of a range, those without any usage too. */
export function daysFrom(since: string, today: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(since); at <= Date.parse(today); at += DAY_MS) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}
