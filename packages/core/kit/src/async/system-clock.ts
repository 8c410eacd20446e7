/** The real clock. Everything that waits takes a `Clock`, so that tests hand in their own. */
import type { Clock } from "@svc/contract";

/** setTimeout fires at once for anything longer, so a month's wait would spin. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs: number, run: () => void): () => void {
    let handle: NodeJS.Timeout;
    const arm = (leftMs: number) => {
      const stepMs = Math.min(Math.max(leftMs, 0), LONGEST_TIMER_MS);
      handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : run()), stepMs).unref();
    };
    arm(delayMs);
    return () => clearTimeout(handle);
  },
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const due = performance.now() + ms;
    do {
      await timer(Math.min(Math.max(due - performance.now(), 0), LONGEST_TIMER_MS), signal);
    } while (performance.now() < due);
  },
});

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(handle);
      reject(signal?.reason);
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
