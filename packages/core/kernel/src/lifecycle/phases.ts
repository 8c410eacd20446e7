/** The order of a lifecycle's phases: none twice, none left out, none after the shutdown. */
import { SvcError } from "@svc/contract";

type Phase = "new" | "constructing" | "constructed" | "registering" | "registered" | "executing" | "shut-down";

export class Phases {
  readonly #stopped: AbortSignal;
  #now: Phase = "new";

  /** `stopped`: aborted when the shutdown begins; everything after it throws its reason. */
  constructor(stopped: AbortSignal) {
    this.#stopped = stopped;
  }

  get now(): Phase {
    return this.#now;
  }

  /** Throws INTERNAL when it is another one's turn. */
  enter(from: Phase, to: Phase): void {
    this.#stopped.throwIfAborted();
    if (this.#now !== from) throw new SvcError("INTERNAL", `The lifecycle is ${this.#now}, not ${from}.`);
    this.#now = to;
  }

  async during<T>(from: Phase, during: Phase, to: Phase, work: () => Promise<T>): Promise<T> {
    this.enter(from, during);
    const result = await work();
    // A shutdown meanwhile has ended, or is ending, everything: the phase must not come after it.
    this.#stopped.throwIfAborted();
    this.#now = to;
    return result;
  }

  end(): void {
    this.#now = "shut-down";
  }
}
