/** A state for each client, of those who were there last. */
import type { ClientId, PerClient, PerClientOptions, SharedHandle } from "@svc/contract";
import { Cell, Handle } from "./handle.ts";

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
