import type { Clock } from "@svc/contract";

/** Waits for `work`, but no longer than that. What it does afterwards is nobody's business. */
export function within(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, resolve);
    const end = (): void => {
      cancel();
      resolve();
    };
    work.then(end, end);
  });
}
