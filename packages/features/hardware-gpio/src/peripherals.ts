/** `[peripherals]`: its boards, if `[hardware]` is off. If it is on, it uses them, and this part contributes nothing. */
import type { Contributions, FeatureContext } from "@svc/contract";
import type { PeripheralsConfig } from "./config.ts";
import { boardsFeature } from "./hardware.ts";

export function create(context: FeatureContext<PeripheralsConfig>): Contributions {
  if (context.siblings["hardware"] !== undefined) return {};
  return boardsFeature(context, { hardware: undefined, boards: context.config.boards });
}
