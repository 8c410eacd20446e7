/** `[hardware]`: boards that are plugged in, and those of `[peripherals]` where that is on too. */
import type { Contributions, FeatureContext } from "@svc/contract";
import type { HardwareConfig, PeripheralsConfig } from "./config.ts";
import { boardsFeature } from "./feature.ts";

export function create(context: FeatureContext<HardwareConfig>): Contributions {
  const { boards = [] } = (context.siblings["peripherals"] ?? {}) as Partial<PeripheralsConfig>;
  return boardsFeature(context, { hardware: context.config, boards });
}
