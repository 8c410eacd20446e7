/** What one turn has used of its model so far. It is right at any moment: a turn can end in the middle. */
import type { ModelConfig } from "../models/open-model.ts";
import { costUsd, type Tokens } from "./price.ts";

/** As the provider told them; undefined: it did not. */
export interface ToldTokens {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

export class Meter {
  /** As the provider counted. */
  inputTokens = 0;
  outputTokens = 0;
  /** US dollars that count against the budget: what the provider did not count is estimated. */
  spentUsd = 0;
  /** Some call was made that may be charged. */
  isUsed = false;
  readonly #model: ModelConfig;
  readonly #onSpent: (usd: number) => void;
  #isWhole = true;

  /** `onSpent` is told at once what a call has cost, so that turns side by side see each other's. */
  constructor(model: ModelConfig, onSpent: (usd: number) => void) {
    this.#model = model;
    this.#onSpent = onSpent;
  }

  /** US dollars; undefined when the price is unknown, or not every call was counted. */
  get costUsd(): number | undefined {
    return this.#model.provider === "builtin" || this.#isWhole ? costUsd(this.#model, this) : undefined;
  }

  /** A call that ended. `estimate` is asked only where money depends on what the provider left out. */
  add({ inputTokens, outputTokens }: ToldTokens, estimate: () => Tokens): void {
    const isWhole = inputTokens !== undefined && outputTokens !== undefined;
    this.isUsed = true;
    this.#isWhole &&= isWhole;
    this.inputTokens += inputTokens ?? 0;
    this.outputTokens += outputTokens ?? 0;
    if (!this.#model.price) return;
    const guess = isWhole ? { inputTokens, outputTokens } : estimate();
    const tokens = {
      inputTokens: inputTokens ?? guess.inputTokens,
      outputTokens: outputTokens ?? guess.outputTokens,
    };
    const usd = costUsd(this.#model, tokens) ?? 0;
    this.spentUsd += usd;
    this.#onSpent(usd);
  }
}
