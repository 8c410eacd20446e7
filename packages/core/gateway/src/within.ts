/** Waiting with a limit, by the injected clock. */
import type { Clock } from "@svc/contract";

/** Whether `done` settled within `ms`. Rejects when it does. */
export async function within(done: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const timer = new AbortController();
  const late = clock.sleep(ms, timer.signal).then(
    () => false,
    () => false,
  );
  const inTime = await Promise.race([done.then(() => true), late]);
  timer.abort();
  return inTime;
}
