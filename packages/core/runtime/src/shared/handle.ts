/** A value behind a lock, and the handles on it. */
import type { SharedHandle } from "@svc/contract";
import { frozen } from "./frozen.ts";
import { AsyncLocalStorage } from "node:async_hooks";

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

/**
 * Many readers or one writer, in the order in which they came. Who waits inside of one lock for another is known, so that a circle of waits
 * is told to whoever would close it, and never waited for.
 */
type Kind = "read" | "write";

/** The innermost lock that the code which runs now is inside of. */
const innermost = new AsyncLocalStorage<Stay>();

/** One who waits for a lock or is inside of it. */
interface Stay {
  readonly lock: Lock;
  readonly kind: Kind;
  /** What it is asked for inside of. */
  readonly outer: Stay | undefined;
  /** What is asked for inside of it, and not over. */
  readonly inner: Set<Stay>;
  state: "waiting" | "inside" | "over";
}

interface Waiting {
  readonly stay: Stay;
  readonly go: () => void;
}

class Lock {
  readonly #name: string;
  readonly #inside = new Set<Stay>();
  readonly #waiting: Waiting[] = [];

  /** `name`: for messages. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Nobody is inside and nobody waits. */
  get isIdle(): boolean {
    return this.#inside.size === 0 && this.#waiting.length === 0;
  }

  /**
   * Runs `work` inside. Rejects with what it throws, with the signal's reason when that is aborted before its turn has come, and
   * with a TypeError when waiting could never end.
   */
  async during<R>(kind: Kind, work: () => R | Promise<R>, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    const stay: Stay = { lock: this, kind, outer: current(), inner: new Set(), state: "waiting" };
    this.#refuseInside(stay.outer);
    stay.outer?.inner.add(stay);
    try {
      if (this.#waiting.length > 0 || !this.#admit(stay)) await this.#turn(stay, signal);
      return await innermost.run(stay, work);
    } finally {
      stay.state = "over";
      stay.outer?.inner.delete(stay);
      this.#inside.delete(stay);
      this.#next();
    }
  }

  /** Whether somebody who is inside can't leave before one of `others` does. */
  waitsFor(others: ReadonlySet<Stay>): boolean {
    return [...this.#inside].some((stay) => waitsFor(stay, others));
  }

  /** A reader would be let in beside itself today, and wait for ever on the day a writer comes between: better never. */
  #refuseInside(outer: Stay | undefined): void {
    for (const { lock } of outwards(outer)) {
      if (lock === this) throw new TypeError(`The state ${this.#told} is asked for inside of itself.`);
    }
  }

  #turn(stay: Stay, signal: AbortSignal | undefined): Promise<void> {
    const own = new Set(outwards(stay.outer));
    if (own.size > 0 && this.waitsFor(own)) {
      throw new TypeError(`The state ${this.#told} is held by one who waits for what is held here.`);
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal?.reason);
      };
      const go = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const waiting = { stay, go };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #admit(stay: Stay): boolean {
    const [other] = this.#inside;
    if (other && (stay.kind === "write" || other.kind === "write")) return false;
    stay.state = "inside";
    this.#inside.add(stay);
    return true;
  }

  #next(): void {
    for (let head = this.#waiting[0]; head && this.#admit(head.stay); head = this.#waiting[0]) {
      this.#waiting.shift();
      head.go();
    }
  }

  get #told(): string {
    return JSON.stringify(this.#name);
  }
}

const waitsFor = (stay: Stay, others: ReadonlySet<Stay>): boolean =>
  others.has(stay) ||
  [...stay.inner].some((inner) => (inner.state === "inside" ? waitsFor(inner, others) : inner.lock.waitsFor(others)));

/** What was begun inside of a stay that is over is inside of it no more. */
function current(): Stay | undefined {
  const [stay] = outwards(innermost.getStore());
  return stay;
}

function* outwards(from: Stay | undefined): Generator<Stay> {
  for (let stay = from; stay; stay = stay.outer) if (stay.state !== "over") yield stay;
}
