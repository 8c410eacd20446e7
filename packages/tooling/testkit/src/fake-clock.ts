/** A clock that stands still until a test moves it, so that no test waits and none depends on speed. */
import type { Clock } from "@svc/contract";

export interface FakeClock extends Clock {
  /**
   * Moves time on. What is due on the way fires one after the other, each at its own time, and everything that follows
   * from it (promise reactions, further timers) happens before the next one.
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock alone, as an operator or NTP does. The monotonic clock doesn't notice. */
  setWallClock(epochMs: number): void;
  /** Timers and sleeps that are due later; 0 after a clean shutdown. */
  readonly waiting: number;
}

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

/** Starts at a fixed date, 2026-01-01T00:00:00Z unless told otherwise. */
export function fakeClock(startMs: number = Date.UTC(2026, 0, 1)): FakeClock {
  let wallMs = startMs;
  let monotonicMs = 0;
  const timers = new Set<Timer>();

  const after = (delayMs: number, run: () => void): (() => void) => {
    const timer = { dueMs: monotonicMs + Math.max(0, delayMs), fire: run };
    timers.add(timer);
    return () => timers.delete(timer);
  };

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = after(ms, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      signal?.addEventListener("abort", abort, { once: true });
    });

  const moveTo = (nextMs: number) => {
    wallMs += Math.max(0, nextMs - monotonicMs);
    monotonicMs = Math.max(monotonicMs, nextMs);
  };

  return {
    now: () => wallMs,
    monotonic: () => monotonicMs,
    after,
    sleep,
    async advance(ms) {
      const untilMs = monotonicMs + ms;
      await settled();
      for (let next = earliest(timers, untilMs); next; next = earliest(timers, untilMs)) {
        timers.delete(next);
        moveTo(next.dueMs);
        next.fire();
        await settled();
      }
      moveTo(untilMs);
    },
    setWallClock: (epochMs) => {
      wallMs = epochMs;
    },
    get waiting() {
      return timers.size;
    },
  };
}

/** Resolves when every promise reaction that is due has run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function earliest(timers: ReadonlySet<Timer>, untilMs: number): Timer | undefined {
  let found: Timer | undefined;
  for (const timer of timers) {
    if (timer.dueMs <= untilMs && (found === undefined || timer.dueMs < found.dueMs)) found = timer;
  }
  return found;
}
