import { unlessAborted } from "./abort.ts";
import { Semaphore } from "./semaphore.ts";

/** Work of one key runs one at a time, in the order in which it came; work of several keys runs side by side. */
export class KeyedQueue<Key> {
  readonly #queues = new Map<Key, { readonly lock: Semaphore; count: number }>();

  /** Keys with work that runs or waits. */
  get size(): number {
    return this.#queues.size;
  }

  /** As `Semaphore.run`. */
  async run<T>(key: Key, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    const queue = this.#queues.get(key) ?? { lock: new Semaphore(1), count: 0 };
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
