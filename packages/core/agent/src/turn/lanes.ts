/** One conversation at a time, conversations in parallel up to a limit, everyone in the order of arrival. */
import { SvcError } from "@svc/contract";

/** Jobs waiting beyond this are refused with BUSY: memory must not grow with the callers' impatience. */
const MAX_WAITING = 10_000;

type Start = () => void;

export class Lanes {
  readonly #maxParallel: number;
  #running = 0;
  #waiting = 0;
  /** A lane exists while one of its jobs runs or is ready; the array holds those behind it. */
  readonly #lanes = new Map<string, Start[]>();
  /** Heads of lanes that wait for a free place. */
  readonly #ready: Start[] = [];

  constructor(maxParallel: number) {
    this.#maxParallel = maxParallel;
  }

  /** Runs `job` when its lane is free and a place is. Rejects with BUSY, or with what the job rejects with. */
  async run<T>(lane: string, job: () => Promise<T>): Promise<T> {
    const behind = this.#lanes.get(lane);
    if (behind) await this.#wait(behind);
    else {
      this.#lanes.set(lane, []);
      if (this.#running >= this.#maxParallel) await this.#wait(this.#ready, () => this.#lanes.delete(lane));
      else this.#running += 1;
    }
    try {
      return await job();
    } finally {
      this.#leave(lane);
    }
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  #wait(queue: Start[], onRefused?: () => void): Promise<void> {
    if (this.#waiting >= MAX_WAITING) {
      onRefused?.();
      throw new SvcError("BUSY", undefined, { retryAfterMs: 1000 });
    }
    this.#waiting += 1;
    return new Promise((resolve) => {
      queue.push(() => {
        this.#waiting -= 1;
        resolve();
      });
    });
  }

  /** The place goes to the longest waiting head; the lane's next job queues up behind the heads of other lanes. */
  #leave(lane: string): void {
    const next = this.#lanes.get(lane)?.shift();
    if (next) this.#ready.push(next);
    else this.#lanes.delete(lane);
    const start = this.#ready.shift();
    if (start) start();
    else this.#running -= 1;
  }
}
