/**
 * What ends one turn before its time: `signal` is aborted when the time is up, when the caller cancels, and when somebody
 * else stops the turn. Waiting for a person pauses the time.
 */
import { type Clock, SvcError } from "@svc/contract";

export class TimeLimit {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #outer: AbortSignal;
  readonly #onOuterAbort = (): void =>
    this.#controller.abort(new SvcError("TURN_CANCELLED", undefined, { cause: this.#outer.reason }));
  #timeout = (): SvcError => new SvcError("TURN_TIMEOUT");
  #remainingMs = 0;
  #startedAt = 0;
  #cancelTimer: () => void = () => {};

  /** The time does not run yet; the caller can cancel from now on. */
  constructor(clock: Clock, outer: AbortSignal) {
    this.#clock = clock;
    this.#outer = outer;
    this.signal = this.#controller.signal;
    if (outer.aborted) this.#onOuterAbort();
    else outer.addEventListener("abort", this.#onOuterAbort, { once: true });
  }

  start(limitMs: number): void {
    this.#remainingMs = limitMs;
    this.#resume();
  }

  stop(reason: SvcError): void {
    this.#controller.abort(reason);
  }

  /** Runs `wait` with the clock stopped. */
  async paused<T>(wait: () => Promise<T>): Promise<T> {
    this.#cancelTimer();
    this.#remainingMs -= this.#clock.monotonic() - this.#startedAt;
    try {
      return await wait();
    } finally {
      this.#resume();
    }
  }

  /** Runs `work`; a time that is up meanwhile is told by `timeout`, whose code is TURN_TIMEOUT. */
  async blaming<T>(timeout: () => SvcError, work: () => Promise<T>): Promise<T> {
    const before = this.#timeout;
    this.#timeout = timeout;
    try {
      return await work();
    } finally {
      this.#timeout = before;
    }
  }

  end(): void {
    this.#cancelTimer();
    this.#outer.removeEventListener("abort", this.#onOuterAbort);
  }

  #resume(): void {
    this.#startedAt = this.#clock.monotonic();
    this.#cancelTimer = this.#clock.after(Math.max(0, this.#remainingMs), () =>
      this.#controller.abort(this.#timeout()),
    );
  }
}
