/** The channels of a config without a service around them: made and registered, never run. For commands and checks. */
import { type Composition, featureIdOf, SvcError } from "@svc/contract";
import { Lifecycle, type Registry, createLogger } from "@svc/runtime";
import type { Home, LoadedConfig } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { enabledFeatures, type FeaturePorts } from "../service/features.ts";

export interface OfflineChannels {
  readonly home: Home;
  readonly composition: Composition;
  readonly config: LoadedConfig;
}

/** Resolves with what `use` makes of them. Throws FEATURE_CONFLICT, and FEATURE_FAILED for a channel that can't be made. */
export async function withOfflineChannels<T>(
  { home, composition, config }: OfflineChannels,
  use: (registry: Registry) => T | Promise<T>,
): Promise<T> {
  const log = createLogger({ level: "error", json: true, write: () => {}, clock: systemClock });
  const channels = new Set(composition.catalogue.filter(({ kind }) => kind === "channel").map(({ id }) => id));
  const lifecycle = new Lifecycle({
    definitions: composition.features,
    enabled: enabledFeatures({ home, composition, log }, config, noDoors).filter(({ definition }) =>
      channels.has(featureIdOf(definition)),
    ),
    log,
    clock: systemClock,
    redact: log.redact,
  });
  try {
    await lifecycle.construct();
    return await use(await lifecycle.register(new AbortController().signal));
  } finally {
    await lifecycle.shutdown();
  }
}

const closed = (): never => {
  throw new SvcError("STORE_FAILED", "This command opens no store.");
};
const noDoors: FeaturePorts = { store: closed, receive: async () => closed() };
