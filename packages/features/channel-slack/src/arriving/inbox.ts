/** Hands messages over to be kept, again when they can't be: what is not on disk is not confirmed to the platform. */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import { retry, unlessAborted } from "@svc/kit";

/** Resolves once all are on disk, in their order. Rejects with what the inbox last refused them for, or the signal's reason. */
export type Keep = (messages: readonly Inbound[], signal: AbortSignal) => Promise<void>;

/** Half a minute in all, at most; then the connection is given up, and what it brought comes again. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000, maxTries: 6 };

export function keeper({ receive, clock, log }: Pick<FeatureContext, "receive" | "clock" | "log">): Keep {
  return async (messages, signal) => {
    if (messages.length === 0) return;
    const onFailure = (error: unknown, retryInMs: number): void => {
      const reason = error instanceof SvcError ? error.code : "unknown";
      log.warn("messages could not be stored; will retry", { reason, retryInMs });
    };
    await retry(() => unlessAborted(receive(messages), signal), { ...BACKOFF, clock, signal, onFailure });
  };
}
