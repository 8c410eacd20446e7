/** State of features that tools share (docs/shared-state.md): a value behind a lock, the handles on it, and one value per client. */
import type { ClientId, FeatureContext, PerClient, PerClientOptions, SharedHandle } from "@svc/contract";
import { frozen } from "./frozen.ts";
import { AsyncLocalStorage } from "node:async_hooks";

const NAME = /^[a-z][a-z0-9_-]{0,63}$/;

/** All the state that one construction of a feature asked for. Another construction has another. */
export class FeatureStates implements Pick<FeatureContext, "shared" | "perClient"> {
  readonly #names = new Set<string>();
  readonly #perClient: Pick<ClientStates<never>, "forget">[] = [];
  #isConstructed = false;

  /** Throws TypeError: a bad name, one that was given before, or Construction is over. */
  readonly shared = <T>(name: string, initial: T): SharedHandle<T> => {
    this.#claim(name);
    const cell = new Cell(name, initial);
    return new Handle(name, () => cell);
  };

  /** Throws TypeError as `shared`, and for a bad limit. */
  readonly perClient = <T>(name: string, initial: () => T, options?: PerClientOptions): PerClient<T> => {
    this.#claim(name);
    const states = new ClientStates(name, initial, options);
    this.#perClient.push(states);
    return states;
  };

  /** Construction is over: what there is now is all there will be. */
  seal(): void {
    this.#isConstructed = true;
  }

  /** The client is gone for good. */
  forget(clientId: ClientId): void {
    for (const states of this.#perClient) states.forget(clientId);
  }

  #claim(name: string): void {
    if (this.#isConstructed) throw new TypeError("A feature asks for its state in create(), and not later.");
    if (!NAME.test(name)) throw new TypeError("The name of a state is a-z, then a-z 0-9 _ -, at most 64.");
    if (this.#names.has(name)) throw new TypeError(`Two states have the name ${JSON.stringify(name)}.`);
    this.#names.add(name);
  }
}

/** A state for each client, of those who were there last. */
const MOST_CLIENTS = 1_000;
/** However many are in use, finding room is a matter of a few looks. */
const TRIES = 8;

export class ClientStates<T> implements PerClient<T> {
  readonly name: string;
  readonly #initial: () => T;
  readonly #most: number;
  /** Whoever was there last is last. */
  readonly #cells = new Map<ClientId, Cell<T>>();

  /** Throws TypeError for a limit that is no whole number above 0. */
  constructor(name: string, initial: () => T, { most = MOST_CLIENTS }: PerClientOptions = {}) {
    if (!Number.isSafeInteger(most) || most < 1) throw new TypeError("A state keeps at least one client.");
    this.name = name;
    this.#initial = initial;
    this.#most = most;
  }

  of(clientId: ClientId): SharedHandle<T> {
    return new Handle(this.name, () => this.#cellOf(clientId));
  }

  /** Whoever is inside ends with what there is; the next one begins anew. */
  forget(clientId: ClientId): void {
    this.#cells.delete(clientId);
  }

  /** Clients with a state of their own. */
  get size(): number {
    return this.#cells.size;
  }

  #cellOf(clientId: ClientId): Cell<T> {
    const cell = this.#cells.get(clientId) ?? new Cell(this.name, this.#initial());
    this.#cells.delete(clientId);
    this.#makeRoom();
    this.#cells.set(clientId, cell);
    return cell;
  }

  /** For one more. One that is in use stays, or two would be inside of one client's state without knowing of each other. */
  #makeRoom(): void {
    let tries = TRIES;
    for (const [clientId, cell] of this.#cells) {
      if (this.#cells.size < this.#most || tries === 0) return;
      tries -= 1;
      this.#cells.delete(clientId);
      if (!cell.isIdle) this.#cells.set(clientId, cell);
    }
  }
}

class Cell<T> {
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

class Handle<T> implements SharedHandle<T> {
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

/**
 * Many readers or one writer, in the order in which they came. Waits inside of one lock for another are known, so that a circle of
 * waits is refused to the caller that would close it.
 */
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
      if (lock === this) throw new TypeError(`The state ${this.#label} is asked for inside of itself.`);
    }
  }

  #turn(stay: Stay, signal: AbortSignal | undefined): Promise<void> {
    const own = new Set(outwards(stay.outer));
    if (own.size > 0 && this.waitsFor(own)) {
      throw new TypeError(`The state ${this.#label} is held by one who waits for what is held here.`);
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

  get #label(): string {
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
