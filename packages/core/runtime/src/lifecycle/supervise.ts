/** The Execution phase of one feature: keeps its `run` going until it ends by itself or is told to stop. */
import { SvcError, type Clock, type Logger } from "@svc/contract";
import { type Backoff, retryDelayMs } from "@svc/kit/async";
import { reasonOf, type Health } from "./status.ts";

export interface RestartDelays extends Backoff {
  /** A loop that ran this long was well: the next failure starts at `firstMs` again. */
  readonly stableMs: number;
}

export interface Supervision {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly health: Health;
  readonly delays: RestartDelays;
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  readonly random?: (() => number) | undefined;
  readonly log: Logger;
  readonly redact: (text: string) => string;
}

/**
 * Never rejects. A run that throws `FEATURE_FAILED` gives up: what it lacks does not come back by waiting. After a failure it is
 * told as running once it has lasted longer than the run that failed.
 */
export async function supervise(watch: Supervision): Promise<void> {
  const { run, signal, health, delays, clock, random, log } = watch;
  // A platform that takes connections and says nothing would else be well with every try, until that is given up.
  let doubtMs = 0;
  for (let failures = 0; !signal.aborted;) {
    const startedAt = clock.monotonic();
    const cancel = tellRunning(watch, doubtMs);
    try {
      await run(signal);
      cancel();
      health.become("stopped");
      return;
    } catch (error) {
      cancel();
      if (signal.aborted) break;
      const reason = reasonOf(error, watch.redact);
      if (error instanceof SvcError && error.code === "FEATURE_FAILED") {
        health.become("failed", reason);
        log.error("The feature gave up.", { reason });
        return;
      }
      const lastedMs = clock.monotonic() - startedAt;
      if (lastedMs >= delays.stableMs) failures = 0;
      doubtMs = lastedMs >= delays.stableMs ? 0 : lastedMs;
      failures += 1;
      const askedMs = error instanceof SvcError ? error.retryAfterMs : undefined;
      const waitMs = retryDelayMs(failures, delays, { askedMs, ...(random && { random }) });
      health.become("waiting", reason);
      log.warn("The feature's loop failed and starts again.", { reason, waitMs });
      await clock.sleep(waitMs, signal).catch(() => undefined);
      if (!signal.aborted) health.restarts += 1;
    }
  }
  health.become("stopped");
}

/** The result takes it back, if it is not told yet. */
function tellRunning({ health, clock }: Pick<Supervision, "health" | "clock">, afterMs: number): () => void {
  if (afterMs > 0) return clock.after(afterMs, () => health.become("running"));
  health.become("running");
  return () => {};
}
