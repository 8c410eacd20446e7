/** What a child agent may spend, with the child agents that it makes. */
import * as v from "valibot";

export interface Spent {
  /** US dollars; undefined: something of it has no known price. */
  readonly costUsd: number | undefined;
  /** Sent to and written by models that svc asks. */
  readonly tokens: number;
  /** Calls of tools. */
  readonly actions: number;
}

/** undefined: no limit. */
export interface Budget {
  readonly costUsd?: number | undefined;
  readonly tokens?: number | undefined;
  readonly actions?: number | undefined;
}

export const NOTHING_SPENT: Spent = { costUsd: 0, tokens: 0, actions: 0 };

export const sumOf = (a: Spent, b: Spent): Spent => ({
  costUsd: a.costUsd === undefined || b.costUsd === undefined ? undefined : a.costUsd + b.costUsd,
  tokens: a.tokens + b.tokens,
  actions: a.actions + b.actions,
});

/** The smaller of each: what both allow. */
export const bothOf = (a: Budget, b: Budget): Budget => ({
  costUsd: smaller(a.costUsd, b.costUsd),
  tokens: smaller(a.tokens, b.tokens),
  actions: smaller(a.actions, b.actions),
});

const smaller = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

/** What is left; of a cost that is not known, nothing. */
export const leftOf = ({ costUsd, tokens, actions }: Budget, spent: Spent): Budget => ({
  costUsd: costUsd && Math.max(0, costUsd - (spent.costUsd ?? costUsd)),
  tokens: tokens && Math.max(0, tokens - spent.tokens),
  actions: actions && Math.max(0, actions - spent.actions),
});

/**
 * Why it may not go on, for a person. `before`: something of this kind is about to be spent, so that a limit that is reached is enough; what
 * has been spent must be more than the limit.
 */
export function excessOf(budget: Budget, spent: Spent, before?: "model" | "action"): string | undefined {
  const isOver = (limit: number | undefined, used: number, isNext: boolean): boolean =>
    limit !== undefined && (isNext ? used >= limit : used > limit);
  if (budget.costUsd !== undefined && spent.costUsd === undefined) {
    return `its cost is not known, and it may cost at most $${budget.costUsd}`;
  }
  if (isOver(budget.costUsd, spent.costUsd ?? 0, before === "model")) return `it may cost at most $${budget.costUsd}`;
  if (isOver(budget.tokens, spent.tokens, before === "model")) return `it may use at most ${budget.tokens} tokens`;
  if (isOver(budget.actions, spent.actions, before === "action")) {
    return `it may call tools at most ${budget.actions} times`;
  }
  return undefined;
}

export const budgetJson = ({ costUsd, tokens, actions }: Budget) => ({
  cost_usd: costUsd ?? null,
  tokens: tokens ?? null,
  actions: actions ?? null,
});

/** As the maker of a child agent gives it. */
export const BUDGET = v.pipe(
  v.strictObject({
    cost_usd: v.optional(v.pipe(v.number(), v.minValue(0.0001), v.description("US dollars."))),
    tokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
    actions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.description("Calls of tools."))),
  }),
  v.description("What it may spend, with those that it makes; never more than the config and its maker allow."),
);

export const budgetIn = (asked: v.InferOutput<typeof BUDGET> | undefined): Budget | undefined =>
  asked && { costUsd: asked.cost_usd, tokens: asked.tokens, actions: asked.actions };
