/** What push messages go out by, and where their subscriptions are kept. */
import type { GatewayDeps } from "@svc/gateway";
import type { LoadedConfig } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { createGuardedFetch, createGuardedResolve, type GuardedFetch } from "@svc/kit";
import { featureSecrets } from "./feature-secrets.ts";
import type { Service } from "./service.ts";

/** No feature has this id: a feature's has no colon. */
const OWNER = "core:push";

/** The outgoing client is made anew when the config in force is another. */
export function pushDeps(service: Pick<Service, "context" | "store" | "config">): GatewayDeps["push"] {
  const { home, log } = service.context;
  let of: LoadedConfig | undefined;
  let fetch: GuardedFetch;
  return {
    secrets: featureSecrets(OWNER, home, () => service.store),
    fetch: async (url, options) => {
      const now = service.config;
      if (of !== now) {
        const allowPrivate = now.core["security.net"].allow_private;
        fetch = createGuardedFetch({ allowPrivate, log, clock: systemClock });
        of = now;
      }
      return fetch(url, options);
    },
    resolve: (url) => createGuardedResolve({ allowPrivate: service.config.core["security.net"].allow_private })(url),
  };
}
