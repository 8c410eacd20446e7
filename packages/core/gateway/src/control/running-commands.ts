/** The commands that run because somebody asked over the control socket. */
import { SvcError } from "@svc/contract";

export class RunningCommands {
  readonly #running = new Map<AbortController, Promise<void>>();

  /** Runs `command`, which never rejects, with the controller that ends it. */
  track(command: (caller: AbortController) => Promise<void>): void {
    const caller = new AbortController();
    this.#running.set(
      caller,
      command(caller).finally(() => this.#running.delete(caller)),
    );
  }

  get size(): number {
    return this.#running.size;
  }

  /** Resolves when no command runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values());
  }

  abortAll(): void {
    const reason = new SvcError("TURN_CANCELLED", "The service shut down before the command ended.");
    for (const caller of this.#running.keys()) caller.abort(reason);
  }
}
