/** What one config makes of the gateway. */
import { type GatewaySettings, ingressPathsOf } from "@svc/gateway";
import type { LoadedConfig, Registry } from "@svc/kernel";
import type { ServiceContext } from "./context.ts";
import { featurePathsOf } from "./feature-paths.ts";
import { metricsHint } from "./metrics-hint.ts";

export const gatewaySettings = (
  { composition }: Pick<ServiceContext, "composition">,
  config: LoadedConfig,
  { routes, ingress, observers }: Registry,
): GatewaySettings => ({
  config: config.core.gateway,
  webhook: config.core["channels_config.webhook"],
  routes,
  featurePaths: featurePathsOf(composition, config),
  authFeatures: new Set(composition.catalogue.filter(({ kind }) => kind === "auth").map(({ id }) => id)),
  ingress,
  ingressPaths: ingressPathsOf(composition.catalogue),
  exposition: observers.find(({ observer }) => observer.exposition)?.observer.exposition,
  metricsHint: metricsHint(composition, config),
});
