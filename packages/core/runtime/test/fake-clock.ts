/** A clock that stands still until a test moves it. (`@svc/testkit` has the public one; core can't depend on it.) */
import type { Clock } from "@svc/contract";

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

export class FakeClock implements Clock {
  #nowMs = 0;
  #timers: Timer[] = [];

  now(): number {
    return 1_700_000_000_000 + this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  get waiting(): number {
    return this.#timers.length;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, fire: run };
    this.#timers.push(timer);
    return () => this.#drop(timer);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Fires what is due on the way, one after the other, and lets everything that follows from it happen. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settled();
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#drop(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.fire();
      await settled();
    }
    this.#nowMs = untilMs;
  }

  #next(untilMs: number): Timer | undefined {
    return this.#timers.filter(({ dueMs }) => dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];
  }

  #drop(timer: Timer): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
  }
}

/** Every promise reaction that is due has run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
