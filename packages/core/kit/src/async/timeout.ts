/** Waiting that ends: at a time limit, or when a signal fires. */
import type { Clock } from "@svc/contract";

export interface TimeoutOptions {
  /** The timer doesn't keep the process alive; those of `keepingAlive` do. */
  readonly clock: Pick<Clock, "after">;
  readonly timeoutMs: number;
  /** The caller's own reason to stop. */
  readonly signal?: AbortSignal | undefined;
  /** What the work is aborted with when the time is up. */
  readonly error: () => Error;
}

/**
 * Runs `work` with a signal that aborts when the time is up or the caller's signal fires, and stops waiting for it then. Rejects with the
 * reason of the abort. The result of abandoned work is ignored; its failure is never an unhandled rejection.
 */
export const withTimeout = <T>(options: TimeoutOptions, work: Work<T>): Promise<T> =>
  withDeadline(options, (signal) => unlessAborted(() => work(signal), signal));

/**
 * As `withTimeout`, but waits until the work has stopped: for work that still holds a device, a file or a connection, and heeds its signal.
 * A failure after the abort becomes the reason of the abort. A result counts, however late.
 */
export async function withDeadline<T>({ clock, timeoutMs, signal, error }: TimeoutOptions, work: Work<T>): Promise<T> {
  signal?.throwIfAborted();
  const given = new AbortController();
  const cancel = clock.after(timeoutMs, () => given.abort(error()));
  const giveUp = (): void => given.abort(signal?.reason);
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    return await work(given.signal);
  } catch (failure) {
    given.signal.throwIfAborted();
    throw failure;
  } finally {
    cancel();
    signal?.removeEventListener("abort", giveUp);
  }
}

type Work<T> = (signal: AbortSignal) => T | Promise<T>;

/** Timers that keep the process alive until they fire: a process must not exit in the middle of a shutdown that waits for hung work. */
export const keepingAlive = (clock: Pick<Clock, "sleep">): Pick<Clock, "after"> => ({
  after(delayMs, run) {
    const cancelled = new AbortController();
    void clock.sleep(delayMs, cancelled.signal).then(run, () => undefined);
    return () => cancelled.abort();
  },
});

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
