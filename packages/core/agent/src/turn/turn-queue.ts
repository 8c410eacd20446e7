/** The queue of turns: one of a conversation at a time, conversations side by side up to a limit, in the order of arrival. */
import { SvcError } from "@svc/contract";
import { type Link, LinkedList } from "@svc/runtime";

/** Jobs waiting beyond this are refused with BUSY: memory must not grow with the callers' impatience. */
const MAX_WAITING = 10_000;
/** Jobs that have released their permits: each holds its conversation in memory. */
const MAX_RELEASED = 1_000;

export class TurnQueue {
  #maxParallel: number;
  #running = 0;
  #waiting = 0;
  #released = 0;
  /** A conversation is here while one of its jobs runs or is ready; the list holds those behind it, once there was one. */
  readonly #conversations = new Map<string, LinkedList<Waiting> | undefined>();
  /** Heads of conversations that wait for a permit. */
  readonly #ready = new LinkedList<Waiting>();
  /** Jobs that reacquire their permits. They began before the others, and their callers wait already. */
  readonly #returning = new LinkedList<() => void>();
  readonly #permits: PermitSource = {
    release: () => this.#release(),
    reacquire: (signal) => this.#reacquire(signal),
  };

  constructor(maxParallel: number) {
    this.#maxParallel = maxParallel;
  }

  /**
   * Runs `job` when its conversation is free and there is a permit. Rejects with BUSY, with the signal's reason when it is
   * aborted before the job's turn has come, or with what the job rejects with.
   */
  async run<T>(key: string, job: (permit: Permit) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#conversations.has(key)) await this.#wait(key, this.#behind(key), signal);
    else {
      this.#conversations.set(key, undefined);
      if (this.#running >= this.#maxParallel) await this.#wait(key, this.#ready, signal);
      else this.#running += 1;
    }
    const permit = new Permit(this.#permits);
    try {
      return await job(permit);
    } finally {
      this.#next(key);
      if (permit.isHeld) this.#running -= 1;
      else if (permit.isOver) this.#released -= 1;
      this.#fill();
    }
  }

  /** Runs `job` when its conversation is free, without a permit: it must not wait for other conversations, nor be refused. */
  async alone<T>(key: string, job: () => Promise<T>): Promise<T> {
    if (this.#conversations.has(key)) {
      const queue = this.#behind(key);
      await new Promise<void>((start) => queue.add({ start, isAlone: true }));
    } else this.#conversations.set(key, undefined);
    try {
      return await job();
    } finally {
      this.#next(key);
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

  #behind(key: string): LinkedList<Waiting> {
    let behind = this.#conversations.get(key);
    if (!behind) this.#conversations.set(key, (behind = new LinkedList()));
    return behind;
  }

  async #wait(key: string, queue: LinkedList<Waiting>, signal: AbortSignal | undefined): Promise<void> {
    const isHead = queue === this.#ready;
    if (this.#waiting >= MAX_WAITING || signal?.aborted) {
      if (isHead) this.#conversations.delete(key);
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
        if (wasHead) this.#next(key);
        else this.#conversations.get(key)?.delete(waiting.link!);
        reject(signal?.reason);
      };
      const waiting: Waiting = { start, isAlone: false };
      this.#waiting += 1;
      waiting.link = queue.add(waiting);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** The conversation's next job queues up behind the heads of other conversations. */
  #next(key: string): void {
    const behind = this.#conversations.get(key);
    const next = behind?.shift();
    if (!next) return void this.#conversations.delete(key);
    if (next.isAlone) return next.start();
    next.link = this.#ready.add(next);
  }

  #release(): boolean {
    if (this.#released >= MAX_RELEASED) return false;
    this.#released += 1;
    this.#running -= 1;
    this.#fill();
    return true;
  }

  async #reacquire(signal: AbortSignal): Promise<void> {
    this.#released -= 1;
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

  /** Free permits go to the jobs that return, then to the heads that wait longest. */
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
  /** Its place in the list until it is started. */
  link?: Link<Waiting>;
}

interface PermitSource {
  /** False when so many are released that this one is kept. */
  release(): boolean;
  /** Rejects with the signal's reason when it is aborted before there is one. */
  reacquire(signal: AbortSignal): Promise<void>;
}

/**
 * The right to ask models and run tools. A turn releases it while it waits for an approval: a few questions without an answer would
 * else stop all turns.
 */
export class Permit {
  readonly #source: PermitSource;
  isHeld = true;
  /** It was released for good. */
  isOver = false;

  constructor(source: PermitSource) {
    this.#source = source;
  }

  /** Only the wait for the disk is left. Turns that end together are one commit, however few may run at the same time. */
  release(): void {
    if (!this.isHeld || !this.#source.release()) return;
    this.isHeld = false;
    this.isOver = true;
  }

  /** Runs `wait` without the permit and reacquires it; rejects with the signal's reason when it is aborted by then. */
  async whileReleased<T>(wait: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (!this.isHeld || !this.#source.release()) return wait();
    this.isHeld = false;
    try {
      return await wait();
    } finally {
      await this.#source.reacquire(signal);
      this.isHeld = true;
    }
  }
}
