/** The features that a config turns on, each with what it is handed: its section, its way out, its encrypted store. */
import type { EnabledFeature, LoadedConfig } from "@svc/kernel";
import { systemClock } from "@svc/kernel";
import { createGuardedFetch } from "@svc/kit";
import type { Store } from "@svc/store";
import type { ServiceContext } from "./context.ts";
import { featureSecrets } from "./feature-secrets.ts";

/** `store` is asked for only when a feature uses its secrets, and is open from the Registration phase on. */
export function enabledFeatures(
  { composition, home, log }: Pick<ServiceContext, "composition" | "home" | "log">,
  config: LoadedConfig,
  store: () => Store,
): EnabledFeature[] {
  const allowPrivate = config.core["security.net"].allow_private;
  return composition.features
    .filter((definition) => config.enabled(definition))
    .map((definition) => {
      const section = config.configOf(definition);
      return {
        definition,
        config: section,
        fetch: createGuardedFetch({ allowPrivate, exempt: ownUrls(section), log, clock: systemClock }),
        secrets: featureSecrets(definition.id, home, store),
      };
    });
}

/** A feature may reach the `api_url` its own section names, wherever that is; nothing else that is private. */
function ownUrls(section: unknown): string[] {
  const url = (section as { api_url?: unknown } | undefined)?.api_url;
  return typeof url === "string" ? [url] : [];
}
