/** The time that boards live in. */
import type { Clock } from "@svc/contract";
import { setTimeout as sleep } from "node:timers/promises";

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  sleep: async (ms, signal) => void (await sleep(ms, undefined, { signal })),
};
