/** Waits for work that may hang: until it ends, its time is up, or the caller gives up. */
import type { Clock } from "@svc/contract";

export interface TimeLimit {
  readonly clock: Clock;
  readonly limitMs: number;
  /** The caller's own reason to stop waiting. */
  readonly signal?: AbortSignal;
  /** What the work is, for the message: "registration". */
  readonly what: string;
}

/**
 * Hands `work` a signal that is aborted when the time is up or the caller's signal fires, and doesn't wait for it any
 * longer then. What the abandoned work does later is nobody's business and never an unhandled rejection.
 */
export async function withTimeLimit<T>(
  { clock, limitMs, signal, what }: TimeLimit,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const given = new AbortController();
  const done = new AbortController();
  const limit = clock.sleep(limitMs, done.signal).then(
    () => given.abort(new Error(`${what} took longer than ${limitMs / 1000} s`)),
    () => undefined,
  );
  const giveUp = () => given.abort(signal?.reason);
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([(async () => work(given.signal))(), rejectionOf(given.signal)]);
  } finally {
    signal?.removeEventListener("abort", giveUp);
    done.abort();
    await limit;
  }
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
