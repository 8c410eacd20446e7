/** The time limit of one turn. It aborts `signal` when the time is up or the caller cancels; waiting for a person pauses it. */
import { type Clock, SvcError } from "@svc/contract";

export class TimeLimit {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #outer: AbortSignal;
  readonly #onOuterAbort = (): void =>
    this.#controller.abort(new SvcError("TURN_CANCELLED", undefined, { cause: this.#outer.reason }));
  #remainingMs: number;
  #startedAt = 0;
  #cancelTimer: () => void = () => {};

  constructor(clock: Clock, limitMs: number, outer: AbortSignal) {
    this.#clock = clock;
    this.#remainingMs = limitMs;
    this.#outer = outer;
    this.signal = this.#controller.signal;
    if (outer.aborted) this.#onOuterAbort();
    else outer.addEventListener("abort", this.#onOuterAbort, { once: true });
    this.#resume();
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

  end(): void {
    this.#cancelTimer();
    this.#outer.removeEventListener("abort", this.#onOuterAbort);
  }

  #resume(): void {
    this.#startedAt = this.#clock.monotonic();
    this.#cancelTimer = this.#clock.after(Math.max(0, this.#remainingMs), () =>
      this.#controller.abort(new SvcError("TURN_TIMEOUT")),
    );
  }
}
