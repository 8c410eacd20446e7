/** Turns in the queue of conversations: jobs whose callers wait for them, in the order of arrival. */
import { SvcError } from "@svc/contract";
import { ConversationQueue, type QueuedItem, type Run } from "../conversation-queue.ts";

/** Jobs waiting beyond this are refused with BUSY: memory must not grow with the callers' impatience. */
const MAX_WAITING = 10_000;
/** Jobs that have released their permits: each holds its conversation in memory. */
const MAX_RELEASED = 1_000;

interface Job extends QueuedItem {
  /** Set when it begins. */
  run: Run | undefined;
  /** Called when it begins, if it had to wait. */
  start: (() => void) | undefined;
}

export class TurnQueue {
  readonly #queue: ConversationQueue<Job>;
  readonly #released = { count: 0 };
  #waiting = 0;
  #arrived = 0;

  constructor(maxParallel: number) {
    const begin = (job: Job, run: Run): void => {
      job.run = run;
      job.start?.();
    };
    this.#queue = new ConversationQueue({ begin, maxParallel });
    this.#queue.start();
  }

  /**
   * Runs `work` when its conversation is free and there is a permit. Rejects with BUSY, with the signal's reason when it is
   * aborted before the job's turn has come, or with what the job rejects with.
   */
  async run<T>(key: string, work: (permit: Permit) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const job = this.#job(key);
    if (!this.#queue.isFree(job)) {
      signal?.throwIfAborted();
      if (this.#waiting >= MAX_WAITING) throw new SvcError("BUSY", undefined, { retryAfterMs: 1000 });
    }
    this.#queue.add(job);
    if (!job.run) await this.#wait(job, signal);
    const run = job.run!;
    const permit = new Permit(run, this.#released);
    try {
      return await work(permit);
    } finally {
      if (permit.isOver) this.#released.count -= 1;
      run.end("over");
    }
  }

  /** Runs `work` when its conversation is free, without a permit: it must not wait for other conversations, nor be refused. */
  async alone<T>(key: string, work: () => Promise<T>): Promise<T> {
    const job: Job = { ...this.#job(key), isAlone: true };
    this.#queue.add(job);
    if (!job.run) await new Promise<void>((start) => (job.start = start));
    try {
      return await work();
    } finally {
      job.run!.end("over");
    }
  }

  /** What runs beyond a smaller limit runs on. */
  resize(maxParallel: number): void {
    this.#queue.resize(maxParallel);
  }

  get running(): number {
    return this.#queue.running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  #job(key: string): Job {
    return { n: (this.#arrived += 1), lane: key, channel: "", run: undefined, start: undefined };
  }

  async #wait(job: Job, signal: AbortSignal | undefined): Promise<void> {
    this.#waiting += 1;
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting -= 1;
        this.#queue.remove(job);
        reject(signal?.reason);
      };
      job.start = () => {
        this.#waiting -= 1;
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }
}

/**
 * The right to ask models and run tools. A turn releases it while it waits for an approval: a few questions without an answer would
 * else stop all turns.
 */
export class Permit {
  readonly #run: Run;
  /** Of all jobs of the queue. */
  readonly #released: { count: number };
  /** It was released for good. */
  isOver = false;
  #isHeld = true;

  constructor(run: Run, released: { count: number }) {
    this.#run = run;
    this.#released = released;
  }

  /** Only the wait for the disk is left. Turns that end together are one commit, however few may run at the same time. */
  release(): void {
    if (this.#letGo()) this.isOver = true;
  }

  /** Runs `wait` without the permit and reacquires it; rejects with the signal's reason when it is aborted by then. */
  async whileReleased<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (!this.#letGo()) return wait();
    try {
      return await wait();
    } finally {
      this.#released.count -= 1;
      await this.#run.reacquire(signal);
      this.#isHeld = true;
    }
  }

  /** False: so many are released that this one is kept. */
  #letGo(): boolean {
    if (!this.#isHeld || this.#released.count >= MAX_RELEASED) return false;
    this.#released.count += 1;
    this.#isHeld = false;
    this.#run.release();
    return true;
  }
}
