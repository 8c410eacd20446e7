/**
 * What one turn has used of its model so far. It is right at any moment: a turn can end in the middle. What is on disk
 * already, with a step of the turn, is told apart from the rest, so that a turn that is taken up pays for nothing twice.
 */
import type { ClientId } from "@svc/contract";
import type { ModelConfig } from "../models/open-model.ts";

/** As the provider told them; undefined: it did not. */
export interface ToldTokens {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** What was used from one moment to another. */
export interface Usage extends Tokens {
  /** US dollars; undefined when the price is unknown, or not every call was counted. */
  readonly costUsd: number | undefined;
}

/** How far a meter was at some moment. */
export interface MeterMark extends Tokens {
  /** Calls of which the provider left out some count. */
  readonly uncounted: number;
}

export interface Used extends Tokens {
  /** US dollars that count against the budget: what the provider did not count is estimated. */
  readonly spentUsd: number;
}

/** For whom the model is asked. */
export interface Caller {
  /** Id of the channel whose message is answered. */
  readonly channel?: string | undefined;
  /** Client whose limits it counts against. */
  readonly client?: ClientId | undefined;
}

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
  add(told: ToldTokens, estimate: () => Tokens): void {
    const isWhole = told.inputTokens !== undefined && told.outputTokens !== undefined;
    const { inputTokens = 0, outputTokens = 0 } = told;
    this.isUsed = true;
    if (!isWhole) this.#uncounted += 1;
    this.inputTokens += inputTokens;
    this.outputTokens += outputTokens;
    const spentUsd = this.#model.price ? this.#costOf(told, isWhole ? undefined : estimate()) : 0;
    this.#unrecorded = sum(this.#unrecorded, { inputTokens, outputTokens, spentUsd }, 1);
    if (this.#model.price) this.#onSpent(spentUsd);
  }

  #costOfCounted(tokens: Tokens, uncounted: number): number | undefined {
    return this.#model.provider === "builtin" || uncounted === 0 ? costUsd(this.#model, tokens) : undefined;
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

/** What a turn cost. A price nobody told us is unknown, never zero; so is the cost of tokens that nobody counted. */
export interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export const isPriceKnown = ({ provider, price }: ModelConfig): boolean =>
  provider === "builtin" || price !== undefined;

/** US dollars, or undefined when the model's price is unknown. */
export function costUsd({ provider, price }: ModelConfig, { inputTokens, outputTokens }: Tokens): number | undefined {
  if (provider === "builtin") return 0;
  if (!price) return undefined;
  return (inputTokens * price.input_per_million + outputTokens * price.output_per_million) / 1_000_000;
}
