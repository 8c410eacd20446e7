/** Aliases of boards: a prefix and a number, the same for a board over reconnects and restarts. */
import { aliasPrefixOf } from "@svc/kit/hardware";
import type { StateStore } from "@svc/contract";

/** Rows that are kept: a device that makes up a serial number at each connection must not fill the database. */
const MOST_KEPT = 1000;
const NAME = "alias:";

/** Keys that identify a board, the most certain first. */
export interface Identity {
  readonly board: string;
  readonly keys: readonly string[];
}

export class Aliases {
  readonly #state: StateStore;
  readonly #byKey = new Map<string, string>();
  #isRead = false;

  constructor(state: StateStore) {
    this.#state = state;
  }

  /** The aliases of these boards, which are all there are now, in their order. Rejects with STORE_*. */
  async of(boards: readonly Identity[]): Promise<readonly string[]> {
    await this.#read();
    const taken = new Set<string>();
    const known = boards.map(({ board, keys }) => {
      const prefix = aliasPrefixOf(board);
      const alias = keys
        .map((key) => this.#byKey.get(key))
        .find((alias) => alias !== undefined && isOf(alias, prefix) && !taken.has(alias));
      if (alias !== undefined) taken.add(alias);
      return alias;
    });
    const given: string[] = [];
    for (const [index, { board, keys }] of boards.entries()) {
      const alias = known[index] ?? this.#next(aliasPrefixOf(board), taken);
      taken.add(alias);
      given.push(alias);
      await this.#keep(alias, keys);
    }
    return given;
  }

  #next(prefix: string, taken: ReadonlySet<string>): string {
    const used = new Set([...this.#byKey.values(), ...taken]);
    let number = 0;
    while (used.has(`${prefix}${number}`)) number += 1;
    return `${prefix}${number}`;
  }

  async #keep(alias: string, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      if (this.#byKey.get(key) === alias || (this.#byKey.size >= MOST_KEPT && !this.#byKey.has(key))) continue;
      this.#byKey.set(key, alias);
      await this.#state.set(NAME + key, alias);
    }
  }

  async #read(): Promise<void> {
    if (this.#isRead) return;
    for (const name of await this.#state.list(NAME)) {
      const alias = await this.#state.get(name);
      if (alias !== undefined) this.#byKey.set(name.slice(NAME.length), alias);
    }
    this.#isRead = true;
  }
}

const isOf = (alias: string, prefix: string): boolean =>
  alias.startsWith(prefix) && /^\d+$/.test(alias.slice(prefix.length));
