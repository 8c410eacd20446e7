/** The calls of one plugin, one after the other, and the process that they share while there are some. */
import type { Clock } from "@svc/contract";
import { Semaphore } from "@svc/kit";
import { tooManyWait } from "./failures.ts";
import type { PluginProcess } from "./plugin-process.ts";

export class Lane {
  readonly #clock: Clock;
  readonly #lock = new Semaphore(1);
  #calls = 0;
  #process: PluginProcess | undefined;
  #cancelIdle: (() => void) | undefined;
  #usedAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It has a process, or is about to. */
  get isWarm(): boolean {
    return this.#calls > 0 || this.#process !== undefined;
  }

  /** Since when it only waits, by the monotonic clock; undefined: calls run. */
  get idleSinceMs(): number | undefined {
    return this.#calls === 0 && this.#process ? this.#usedAtMs : undefined;
  }

  /** `start`: a loaded process, where there is none. Rejects with BUSY, what `start` and `use` throw, the signal's reason. */
  async inTurn<T>(
    start: () => Promise<PluginProcess>,
    use: (process: PluginProcess) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    if (this.#calls === MOST_CALLS) throw tooManyWait();
    this.#cancelIdle?.();
    this.#calls += 1;
    try {
      const permit = await this.#lock.acquire(signal);
      try {
        if (this.#process?.isOver !== false) this.#process = await start();
        return await use(this.#process);
      } finally {
        permit.release();
      }
    } finally {
      this.#calls -= 1;
      this.#rest();
    }
  }

  /** Ends the process. Calls that run fail. */
  end(): void {
    this.#cancelIdle?.();
    this.#process?.end();
    this.#process = undefined;
  }

  #rest(): void {
    if (this.#process?.isOver) this.#process = undefined;
    if (this.#calls > 0 || !this.#process) return;
    this.#usedAtMs = this.#clock.monotonic();
    this.#cancelIdle = this.#clock.after(IDLE_MS, () => this.end());
  }
}

/** One runs, the others wait. */
const MOST_CALLS = 9;

/** A process that nobody needs takes memory for nothing; starting one takes a moment. */
const IDLE_MS = 60_000;
