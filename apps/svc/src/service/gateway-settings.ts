/** What one config makes of the gateway. */
import { type GatewaySettings, ingressPathsOf } from "@svc/gateway";
import type { LoadedConfig, Registry } from "@svc/kernel";
import type { ServiceContext } from "./context.ts";

export const gatewaySettings = (
  { composition }: Pick<ServiceContext, "composition">,
  { core }: LoadedConfig,
  { routes, ingress }: Registry,
): GatewaySettings => ({
  config: core.gateway,
  webhook: core["channels_config.webhook"],
  routes,
  ingress,
  ingressPaths: ingressPathsOf(composition.catalogue),
});
