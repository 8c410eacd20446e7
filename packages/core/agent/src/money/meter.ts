/**
 * What one turn has used of its model so far. It is right at any moment: a turn can end in the middle. What is on disk
 * already, with a step of the turn, is told apart from the rest, so that a turn that is taken up pays for nothing twice.
 */
import type { ModelConfig } from "../models/open-model.ts";
import { costUsd, type Tokens } from "./price.ts";

/** As the provider told them; undefined: it did not. */
export interface ToldTokens {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

export interface Used extends Tokens {
  /** US dollars that count against the budget: what the provider did not count is estimated. */
  readonly spentUsd: number;
}

export class Meter {
  /** As the provider counted. */
  inputTokens = 0;
  outputTokens = 0;
  /** Some call was made that may be charged. */
  isUsed = false;
  readonly #model: ModelConfig;
  readonly #onSpent: (usd: number) => void;
  #isWhole = true;
  #unrecorded: Used = NOTHING;

  /** `onSpent` is told at once what a call has cost, so that turns side by side see each other's. */
  constructor(model: ModelConfig, onSpent: (usd: number) => void) {
    this.#model = model;
    this.#onSpent = onSpent;
  }

  /** US dollars; undefined when the price is unknown, or not every call was counted. */
  get costUsd(): number | undefined {
    return this.#model.provider === "builtin" || this.#isWhole ? costUsd(this.#model, this) : undefined;
  }

  /** False: the provider left out some count. */
  get isWhole(): boolean {
    return this.#isWhole;
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
    this.#isWhole &&= isWhole;
    this.inputTokens += inputTokens;
    this.outputTokens += outputTokens;
  }

  /** A call that ended. `estimate` is asked only where money depends on what the provider left out. */
  add(told: ToldTokens, estimate: () => Tokens): void {
    const isWhole = told.inputTokens !== undefined && told.outputTokens !== undefined;
    const { inputTokens = 0, outputTokens = 0 } = told;
    this.isUsed = true;
    this.#isWhole &&= isWhole;
    this.inputTokens += inputTokens;
    this.outputTokens += outputTokens;
    const spentUsd = this.#model.price ? this.#costOf(told, isWhole ? undefined : estimate()) : 0;
    this.#unrecorded = sum(this.#unrecorded, { inputTokens, outputTokens, spentUsd }, 1);
    if (this.#model.price) this.#onSpent(spentUsd);
  }

  #costOf(told: ToldTokens, guess: Tokens = NOTHING): number {
    const { inputTokens = guess.inputTokens, outputTokens = guess.outputTokens } = told;
    return costUsd(this.#model, { inputTokens, outputTokens }) ?? 0;
  }
}

const NOTHING: Used = { inputTokens: 0, outputTokens: 0, spentUsd: 0 };

const sum = (a: Used, b: Used, sign: 1 | -1): Used => ({
  inputTokens: a.inputTokens + sign * b.inputTokens,
  outputTokens: a.outputTokens + sign * b.outputTokens,
  spentUsd: a.spentUsd + sign * b.spentUsd,
});
