/**
 * The only way a tool or feature owns long-lived shared state: a named handle around a reader-writer lock, made by
 * whoever composes and given at construction. Cloning shares the state. Many readers or one writer; a waiting writer
 * goes before later readers, so writers never starve. `read` must not change what it is handed.
 */
export class SharedHandle<T> {
  readonly name: string;
  readonly #cell: Cell<T>;

  constructor(name: string, initial: T);
  /** @internal used by clone */
  constructor(name: string, initial: undefined, cell: unknown);
  constructor(name: string, initial: T | undefined, cell?: unknown) {
    this.name = name;
    this.#cell = (cell as Cell<T> | undefined) ?? new Cell(initial as T);
  }

  /** Another handle on the same state, under the same or another name. */
  clone(name: string = this.name): SharedHandle<T> {
    return new SharedHandle<T>(name, undefined, this.#cell);
  }

  /** Runs `look` while no writer runs. */
  read<R>(look: (state: Readonly<T>) => R | Promise<R>): Promise<R> {
    return this.#cell.read(look);
  }

  /** Runs `change` alone; what it returns becomes the state. If it throws, the state stays. */
  write(change: (state: Readonly<T>) => T | Promise<T>): Promise<void> {
    return this.#cell.write(change);
  }
}

class Cell<T> {
  #state: T;
  #readers = 0;
  #writing = false;
  readonly #waiting: { kind: "read" | "write"; go: () => void }[] = [];

  constructor(initial: T) {
    this.#state = initial;
  }

  async read<R>(look: (state: Readonly<T>) => R | Promise<R>): Promise<R> {
    await this.#enter("read");
    try {
      return await look(this.#state);
    } finally {
      this.#readers -= 1;
      this.#next();
    }
  }

  async write(change: (state: Readonly<T>) => T | Promise<T>): Promise<void> {
    await this.#enter("write");
    try {
      this.#state = await change(this.#state);
    } finally {
      this.#writing = false;
      this.#next();
    }
  }

  #enter(kind: "read" | "write"): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#admit(kind)) return undefined;
    return new Promise((go) => this.#waiting.push({ kind, go }));
  }

  #admit(kind: "read" | "write"): boolean {
    if (this.#writing || (kind === "write" && this.#readers > 0)) return false;
    if (kind === "write") this.#writing = true;
    else this.#readers += 1;
    return true;
  }

  #next(): void {
    for (let head = this.#waiting[0]; head && this.#admit(head.kind); head = this.#waiting[0]) {
      this.#waiting.shift();
      head.go();
    }
  }
}
