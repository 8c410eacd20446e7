/** `[peripherals]`: its boards, where `[hardware]` is off. Else they are used by that part, and this one has nothing to do. */
import type { Contributions, FeatureContext } from "@svc/contract";
import type { PeripheralsConfig } from "./config.ts";
import { boardsFeature } from "./feature.ts";

export function create(context: FeatureContext<PeripheralsConfig>): Contributions {
  if (context.siblings["hardware"] !== undefined) return {};
  return boardsFeature(context, { hardware: undefined, boards: context.config.boards });
}
