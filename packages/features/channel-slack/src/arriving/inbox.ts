/** Hands messages over to be kept, again when they can't be: what is not on disk is not confirmed to the platform. */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit";

/** Resolves once all are on disk, in their order. Rejects with what the inbox last refused them for, or the signal's reason. */
export type Keep = (messages: readonly Inbound[], signal: AbortSignal) => Promise<void>;

/** Half a minute in all; then the connection is given up, and what it brought comes again. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000];

export function keeper({ receive, clock, log }: Pick<FeatureContext, "receive" | "clock" | "log">): Keep {
  return async (messages, signal) => {
    if (messages.length === 0) return;
    for (const pauseMs of [...PAUSES_MS, undefined]) {
      try {
        await unlessAborted(receive(messages), signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (pauseMs === undefined) throw error;
        log.warn("messages could not be kept; they are tried again", {
          reason: error instanceof SvcError ? error.code : "unknown",
        });
        await clock.sleep(pauseMs, signal);
      }
    }
  };
}
