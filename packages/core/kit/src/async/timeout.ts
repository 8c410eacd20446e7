/** Waiting that ends: at a time limit, or when a signal fires. */
import type { Clock } from "@svc/contract";

export interface TimeoutOptions {
  /** Its sleep keeps the process alive until the time is up: a shutdown must not end in the middle. */
  readonly clock: Pick<Clock, "sleep">;
  readonly timeoutMs: number;
  /** The caller's own reason to stop waiting. */
  readonly signal?: AbortSignal | undefined;
  /** The error to reject with when the time is up. */
  readonly error: () => Error;
}

/**
 * Runs `work` with a signal that aborts when the time is up or the caller's signal fires, and then stops waiting for it. The
 * result of abandoned work is ignored; its failure is never an unhandled rejection.
 */
export async function withTimeout<T>(
  { clock, timeoutMs, signal, error }: TimeoutOptions,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const given = new AbortController();
  const done = new AbortController();
  const limit = clock.sleep(timeoutMs, done.signal).then(
    () => given.abort(error()),
    () => undefined,
  );
  const giveUp = (): void => given.abort(signal?.reason);
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    return await unlessAborted(
      Promise.try(() => work(given.signal)),
      given.signal,
    );
  } finally {
    signal?.removeEventListener("abort", giveUp);
    done.abort();
    await limit;
  }
}

/** The runtime's timers, for where no clock is injected. */
export const runtimeTimers: Pick<Clock, "after"> = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/**
 * What `work` comes to. Rejects with the signal's reason when it is aborted first; the work itself goes on. A function is not called when
 * the signal is aborted already.
 */
export async function unlessAborted<T>(work: Promise<T> | (() => T | Promise<T>), signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const abort = Promise.withResolvers<never>();
  const giveUp = (): void => abort.reject(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([typeof work === "function" ? work() : work, abort.promise]);
  } finally {
    // The runtime keeps a signal that is made of others for as long as it has a listener.
    signal.removeEventListener("abort", giveUp);
  }
}
