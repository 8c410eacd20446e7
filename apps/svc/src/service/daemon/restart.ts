/** Somebody wants the service to stop and come again in this process. */
import type { Logger } from "@svc/contract";

export class RestartRequest {
  readonly #asked = Promise.withResolvers<void>();
  #wanted = false;
  #between: (() => void) | undefined;

  /** Resolves when it is wanted. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  get wanted(): boolean {
    return this.#wanted;
  }

  /** `between` is called while nothing is open and the home is still locked. Of two requests the first one counts. */
  ask(between?: () => void): boolean {
    if (this.#wanted) return false;
    this.#wanted = true;
    this.#between = between;
    this.#asked.resolve();
    return true;
  }

  /** What fails in between must not keep the service down: it comes again with what is there. */
  between(log: Logger): void {
    try {
      this.#between?.();
    } catch (error) {
      log.error("what was to be done before the restart failed", { error: String(error) });
    }
  }
}
