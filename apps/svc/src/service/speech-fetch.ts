/** The way out to the services of speech: guarded, and let through to the addresses that the config names. */
import type { Logger } from "@svc/contract";
import { currentScope, type LoadedConfig, systemClock } from "@svc/kernel";
import { createGuardedFetch, type GuardedFetch } from "@svc/kit";

/** Made anew when the config in force is another. */
export function speechFetch(config: () => LoadedConfig, log: Logger): GuardedFetch {
  let of: LoadedConfig | undefined;
  let fetch: GuardedFetch;
  return async (url, options) => {
    const now = config();
    if (of !== now) {
      const { "security.net": net, transcription, tts } = now.core;
      fetch = createGuardedFetch({
        allowPrivate: net.allow_private,
        exempt: [transcription.base_url, tts.base_url],
        traceparent: () => currentScope().traceparent,
        log,
        clock: systemClock,
      });
      of = now;
    }
    return fetch(url, options);
  };
}
