/** One conversation at a time, conversations in parallel up to a limit, everyone in the order of arrival. */
import { SvcError } from "@svc/contract";
import { type Link, LinkedList } from "@svc/kernel";
import { Place, type Places } from "./place.ts";

/** Jobs waiting beyond this are refused with BUSY: memory must not grow with the callers' impatience. */
const MAX_WAITING = 10_000;
/** Jobs that have lent their places or given them up: each holds its conversation in memory. */
const MAX_LENT = 1_000;

export class Lanes {
  #maxParallel: number;
  #running = 0;
  #waiting = 0;
  #lent = 0;
  /** A lane exists while one of its jobs runs or is ready; the list holds those behind it, once there was one. */
  readonly #lanes = new Map<string, LinkedList<Waiting> | undefined>();
  /** Heads of lanes that wait for a free place. */
  readonly #ready = new LinkedList<Waiting>();
  /** Those that want a place again. They began before the others, and their callers wait already. */
  readonly #returning = new LinkedList<() => void>();
  readonly #places: Places = {
    giveBack: () => this.#giveBack(),
    takeAgain: (signal) => this.#takeAgain(signal),
  };

  constructor(maxParallel: number) {
    this.#maxParallel = maxParallel;
  }

  /**
   * Runs `job` when its lane is free and a place is. Rejects with BUSY, with the signal's reason when it is aborted
   * before the job's turn has come, or with what the job rejects with.
   */
  async run<T>(lane: string, job: (place: Place) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#lanes.has(lane)) await this.#wait(lane, this.#behind(lane), signal);
    else {
      this.#lanes.set(lane, undefined);
      if (this.#running >= this.#maxParallel) await this.#wait(lane, this.#ready, signal);
      else this.#running += 1;
    }
    const place = new Place(this.#places);
    try {
      return await job(place);
    } finally {
      this.#next(lane);
      if (place.isHeld) this.#running -= 1;
      else if (place.isOver) this.#lent -= 1;
      this.#fill();
    }
  }

  /** Runs `job` when its lane is free, beside the limit: it must not wait for strangers, nor be refused. */
  async alone<T>(lane: string, job: () => Promise<T>): Promise<T> {
    if (this.#lanes.has(lane)) {
      const queue = this.#behind(lane);
      await new Promise<void>((start) => queue.add({ start, isAlone: true }));
    } else this.#lanes.set(lane, undefined);
    try {
      return await job();
    } finally {
      this.#next(lane);
      this.#fill();
    }
  }

  /** What runs beyond a smaller limit runs on. */
  resize(maxParallel: number): void {
    this.#maxParallel = maxParallel;
    this.#fill();
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  #behind(lane: string): LinkedList<Waiting> {
    let behind = this.#lanes.get(lane);
    if (!behind) this.#lanes.set(lane, (behind = new LinkedList()));
    return behind;
  }

  async #wait(lane: string, queue: LinkedList<Waiting>, signal: AbortSignal | undefined): Promise<void> {
    const isHead = queue === this.#ready;
    if (this.#waiting >= MAX_WAITING || signal?.aborted) {
      if (isHead) this.#lanes.delete(lane);
      throw signal?.aborted ? signal.reason : new SvcError("BUSY", undefined, { retryAfterMs: 1000 });
    }
    await new Promise<void>((resolve, reject) => {
      const stopWaiting = (): void => {
        this.#waiting -= 1;
        signal?.removeEventListener("abort", giveUp);
      };
      const start = (): void => {
        stopWaiting();
        resolve();
      };
      const giveUp = (): void => {
        stopWaiting();
        const wasHead = this.#ready.delete(waiting.link!);
        if (wasHead) this.#next(lane);
        else this.#lanes.get(lane)?.delete(waiting.link!);
        reject(signal?.reason);
      };
      const waiting: Waiting = { start, isAlone: false };
      this.#waiting += 1;
      waiting.link = queue.add(waiting);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** The lane's next job queues up behind the heads of other lanes. */
  #next(lane: string): void {
    const behind = this.#lanes.get(lane);
    const next = behind?.shift();
    if (!next) return void this.#lanes.delete(lane);
    if (next.isAlone) return next.start();
    next.link = this.#ready.add(next);
  }

  #giveBack(): boolean {
    if (this.#lent >= MAX_LENT) return false;
    this.#lent += 1;
    this.#running -= 1;
    this.#fill();
    return true;
  }

  async #takeAgain(signal: AbortSignal): Promise<void> {
    this.#lent -= 1;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.#returning.delete(link);
        reject(signal.reason);
      };
      const link = this.#returning.add(() => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      });
      signal.addEventListener("abort", giveUp, { once: true });
      this.#fill();
    });
  }

  /** Free places go to those who return, then to the heads that wait longest. */
  #fill(): void {
    while (this.#running < this.#maxParallel) {
      const goOn = this.#returning.shift();
      if (goOn) {
        this.#running += 1;
        goOn();
        continue;
      }
      const head = this.#ready.shift();
      if (!head) return;
      this.#running += 1;
      head.start();
    }
  }
}

interface Waiting {
  readonly start: () => void;
  readonly isAlone: boolean;
  /** Where it stands until it is started. */
  link?: Link<Waiting>;
}
