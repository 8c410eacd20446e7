/** The turns that run because of a request. Shutdown waits for them; whether their client is still there is no matter. */
import { type Clock, SvcError } from "@svc/contract";
import { LinkedList } from "@svc/runtime";

export class RunningTurns {
  readonly #running = new LinkedList<Running>();
  #whenIdle: (() => void)[] = [];

  get size(): number {
    return this.#running.size;
  }

  /**
   * Runs `turn` to its end. Its signal knows nothing of the connection: a client that hangs up must not undo a message
   * that was accepted.
   */
  async track<T>(turn: (signal: AbortSignal) => Promise<T>, deviceId?: string): Promise<T> {
    const controller = new AbortController();
    const link = this.#running.add({ controller, deviceId });
    try {
      return await turn(controller.signal);
    } finally {
      this.#running.delete(link);
      if (this.#running.size === 0 && this.#whenIdle.length > 0) for (const told of this.#whenIdle.splice(0)) told();
    }
  }

  /** Resolves when no turn runs. */
  idle(): Promise<void> {
    return this.#running.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Aborts the turns of a device that may no longer have any. */
  abortOf(deviceId: string, reason: SvcError): void {
    for (const running of this.#running.items()) if (running.deviceId === deviceId) running.controller.abort(reason);
  }

  abortAll(): void {
    const reason = new SvcError("TURN_CANCELLED", "The service shut down before the turn ended.");
    for (const { controller } of this.#running.items()) controller.abort(reason);
  }
}

interface Running {
  readonly controller: AbortController;
  /** The device that sent the message, if one did. */
  readonly deviceId: string | undefined;
}

/** Whether `done` settled within `ms`. Rejects when it does. */
export async function within(done: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const timer = new AbortController();
  const late = clock.sleep(ms, timer.signal).then(
    () => false,
    () => false,
  );
  const inTime = await Promise.race([done.then(() => true), late]);
  timer.abort();
  return inTime;
}
