/** Sign-ins that have ended and are to go from the disk. What a full disk refuses is tried again, or a restart would bring it back. */
import { SvcError, type Clock, type Logger } from "@svc/contract";
import type { PageSessionStore } from "../types.ts";

export interface RemovalsOptions {
  readonly store: Pick<PageSessionStore, "remove">;
  readonly clock: Clock;
  readonly log: Logger;
}

const RETRY_MS = 30_000;

export class Removals {
  readonly #options: RemovalsOptions;
  readonly #left = new Set<string>();
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(options: RemovalsOptions) {
    this.#options = options;
  }

  /** Rejects with STORE_* when it is not gone; then it is tried again. */
  async now(idHash: string): Promise<void> {
    try {
      await this.#options.store.remove(idHash);
      this.#left.delete(idHash);
    } catch (cause) {
      if (this.#left.size === 0) this.#options.log.warn("a page was signed out, but that could not be stored yet");
      this.#left.add(idHash);
      this.#tryLater();
      const code = cause instanceof SvcError ? cause.code : "STORE_FAILED";
      throw new SvcError(code, "The page is signed out, but that could not be stored: a restart would undo it.", {
        cause,
      });
    }
  }

  /** For whoever can't do anything about it. */
  begin(idHash: string): void {
    this.now(idHash).catch(() => {});
  }

  /** No further tries. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  #tryLater(): void {
    if (this.#stopped || this.#cancel !== undefined) return;
    this.#cancel = this.#options.clock.after(RETRY_MS, () => {
      this.#cancel = undefined;
      for (const idHash of this.#left) this.begin(idHash);
    });
  }
}
