/** Work that waits for its turn: at most so many at a time, or one at a time for each key. */
import { unlessAborted } from "./timeout.ts";

/** Work of one key runs in the order in which it came, one at a time or `permits` at a time; work of several keys runs side by side. */
export class KeyedQueue<Key> {
  readonly #permits: number;
  readonly #queues = new Map<Key, { readonly lock: Semaphore; count: number }>();

  constructor(permits = 1) {
    this.#permits = permits;
  }

  /** Keys with work that runs or waits. */
  get size(): number {
    return this.#queues.size;
  }

  /** Work of the key that runs or waits. For callers that leave out what would wait too long. */
  count(key: Key): number {
    return this.#queues.get(key)?.count ?? 0;
  }

  /** As `Semaphore.run`. */
  async run<T>(key: Key, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    const queue = this.#queues.get(key) ?? { lock: new Semaphore(this.#permits), count: 0 };
    this.#queues.set(key, queue);
    queue.count += 1;
    const leave = (): void => {
      queue.count -= 1;
      if (queue.count === 0) this.#queues.delete(key);
    };
    const permit = await queue.lock.acquire(signal).catch((error: unknown) => {
      leave();
      throw error;
    });
    const running = Promise.try(work).finally(() => {
      leave();
      permit.release();
    });
    if (!signal) return running;
    running.catch(() => undefined);
    return unlessAborted(running, signal);
  }
}

export interface Permit {
  /** More than once is once. */
  release(): void;
}

/** At most `permits` at a time; the others wait in the order in which they came. One permit makes it a lock. */
export class Semaphore {
  #free: number;
  /** Each gets the permit of the work that ended. */
  readonly #waiting = new Set<() => void>();

  constructor(permits: number) {
    this.#free = permits;
  }

  /** Rejects with the signal's reason. */
  async acquire(signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return this.#permit();
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.add(turn.resolve);
    try {
      await (signal ? unlessAborted(turn.promise, signal) : turn.promise);
    } catch (error) {
      // Aborted after its turn had come: the permit goes to the next one.
      if (!this.#waiting.delete(turn.resolve)) this.#next();
      throw error;
    }
    return this.#permit();
  }

  /**
   * Runs `work` with a permit. Rejects with its error, or with the signal's reason; work that has begun then continues and keeps
   * the permit until it ends.
   */
  async run<T>(work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    const permit = await this.acquire(signal);
    const running = Promise.try(work).finally(() => permit.release());
    if (!signal) return running;
    running.catch(() => undefined);
    return unlessAborted(running, signal);
  }

  #permit(): Permit {
    let isHeld = true;
    return {
      release: () => {
        if (isHeld) this.#next();
        isHeld = false;
      },
    };
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(first);
    first();
  }
}
