/** What a turn cost. A price nobody told us is unknown, never zero. */
import type { ModelConfig } from "./open-model.ts";

/** US dollars, or undefined when the model's price is unknown. */
export function costUsd(config: ModelConfig, inputTokens: number, outputTokens: number): number | undefined {
  if (config.provider === "builtin") return 0;
  if (!config.price) return undefined;
  return (inputTokens * config.price.input_per_million + outputTokens * config.price.output_per_million) / 1_000_000;
}
