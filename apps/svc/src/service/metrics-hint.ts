/** What `GET /metrics` says where nobody has numbers for it: what to do about that, in this very case. */
import type { Composition } from "@svc/contract";
import type { LoadedConfig } from "@svc/kernel";

const FEATURE = "observability-metrics";
const KEY = '[observability] backend = "metrics"';

export function metricsHint({ catalogue }: Pick<Composition, "catalogue">, { core }: LoadedConfig): string {
  const isAsked = core.observability.backend === "metrics";
  const entry = catalogue.find(({ id }) => id === FEATURE);
  if (!entry?.included) {
    const build = `build it in with: ${entry?.build ?? "svc features --all"}`;
    const then = isAsked ? "" : `, then set ${KEY} in the config`;
    return `metrics are off: the feature ${FEATURE} is not in this build; ${build}${then}`;
  }
  return isAsked
    ? `metrics are off: the feature ${FEATURE} failed; svc status says why`
    : `metrics are off: set ${KEY} in the config, then run: svc reload`;
}
