import type { Clock } from "@svc/contract";

export interface IdentifyPace {
  /** Resolves when the next session may begin. Rejects with the signal's reason. */
  pass(signal: AbortSignal): Promise<void>;
}

/**
 * A new session every five seconds, whoever asks; more are told that theirs are invalid.
 * https://docs.discord.com/developers/events/gateway#rate-limiting
 */
export function identifyPace(clock: Pick<Clock, "monotonic" | "sleep">): IdentifyPace {
  let nextMs = Number.NEGATIVE_INFINITY;
  return {
    async pass(signal) {
      const waitMs = nextMs - clock.monotonic();
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      signal.throwIfAborted();
      nextMs = clock.monotonic() + EVERY_MS;
    },
  };
}

const EVERY_MS = 5_500;
