/** What a turn cost. A price nobody told us is unknown, never zero; so is the cost of tokens that nobody counted. */
import type { ModelConfig } from "./open-model.ts";

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Every answer told its tokens. */
  readonly metered: boolean;
}

/** US dollars, or undefined when the model's price is unknown. */
export function costUsd(config: ModelConfig, { inputTokens, outputTokens, metered }: Usage): number | undefined {
  if (config.provider === "builtin") return 0;
  if (!config.price || !metered) return undefined;
  return (inputTokens * config.price.input_per_million + outputTokens * config.price.output_per_million) / 1_000_000;
}
