/** A value behind a lock, and the handles on it. */
import type { SharedHandle } from "@svc/contract";
import { frozen } from "./frozen.ts";
import { Lock } from "./lock.ts";

export class Cell<T> {
  readonly #lock: Lock;
  #state: T;

  constructor(name: string, initial: T) {
    this.#lock = new Lock(name);
    this.#state = frozen(initial);
  }

  get isIdle(): boolean {
    return this.#lock.isIdle;
  }

  read<R>(look: (state: Readonly<T>) => R | Promise<R>, signal?: AbortSignal): Promise<R> {
    return this.#lock.during("read", () => look(this.#state), signal);
  }

  write(change: (state: Readonly<T>) => T | Promise<T>, signal?: AbortSignal): Promise<Readonly<T>> {
    return this.#lock.during(
      "write",
      async () => {
        const next = await change(this.#state);
        return (this.#state = frozen(next));
      },
      signal,
    );
  }
}

export class Handle<T> implements SharedHandle<T> {
  readonly name: string;
  readonly #cell: () => Cell<T>;

  /** `cell` is asked for at each use. */
  constructor(name: string, cell: () => Cell<T>) {
    this.name = name;
    this.#cell = cell;
  }

  clone(name: string = this.name): SharedHandle<T> {
    return new Handle(name, this.#cell);
  }

  // As async functions: what goes wrong at once is a rejection like any other.
  async read<R>(look: (state: Readonly<T>) => R | Promise<R>, signal?: AbortSignal): Promise<R> {
    return this.#cell().read(look, signal);
  }

  async write(change: (state: Readonly<T>) => T | Promise<T>, signal?: AbortSignal): Promise<Readonly<T>> {
    return this.#cell().write(change, signal);
  }
}
