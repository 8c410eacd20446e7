/**
 * A map nobody can change once it is built, whatever they hold. Not a `Map`: `Object.freeze` does not freeze a Map's
 * entries, and `Map.prototype.set.call(map, …)` gets past any overridden method.
 */
export class FrozenMap<Value> implements Iterable<readonly [string, Value]> {
  readonly #entries: Map<string, Value>;

  /** Throws when a name comes twice. */
  constructor(entries: Iterable<readonly [string, Value]> = []) {
    this.#entries = new Map();
    for (const [name, value] of entries) {
      if (this.#entries.has(name)) throw new TypeError(`a name was given twice: ${JSON.stringify(name)}`);
      this.#entries.set(name, value);
    }
    Object.freeze(this);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Value | undefined {
    return this.#entries.get(name);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** All names, in the order of construction. A copy. */
  names(): string[] {
    return [...this.#entries.keys()];
  }

  /** All values, in the order of construction. A copy. */
  list(): Value[] {
    return [...this.#entries.values()];
  }

  [Symbol.iterator](): IterableIterator<[string, Value]> {
    return this.#entries.entries();
  }
}

Object.freeze(FrozenMap.prototype);
