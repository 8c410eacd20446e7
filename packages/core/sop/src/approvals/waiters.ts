/** Who waits in this process for the end of an approval. */
import type { Approval } from "@svc/store";

export class Waiters {
  readonly #waiting = new Map<number, Set<(approval: Approval) => void>>();

  /** Resolves with the end of it. Rejects with the signal's reason. */
  async wait(n: number, signal: AbortSignal): Promise<Approval> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Approval>();
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const waiting = this.#waiting.get(n) ?? new Set();
    this.#waiting.set(n, waiting.add(resolve));
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
      waiting.delete(resolve);
      if (waiting.size === 0) this.#waiting.delete(n);
    }
  }

  wake(approval: Approval): void {
    for (const resolve of this.#waiting.get(approval.n) ?? []) resolve(approval);
  }
}
