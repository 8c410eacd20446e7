/** What a turn cost. A price nobody told us is unknown, never zero; so is the cost of tokens that nobody counted. */
import type { ModelConfig } from "../models/open-model.ts";

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
