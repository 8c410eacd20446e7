/** Values that nothing can change any more: frozen data, a copy of what a feature contributed, a map. */

/** A state that is made of an old one holds most of it: those parts are not looked through again. */
const done = new WeakSet<object>();

/**
 * Freezes plain data (objects, arrays, Maps and Sets) through and through, and returns it. Instances of classes and bytes stay as
 * they are; `Object.freeze` would break the ones and refuses the others.
 */
export function frozen<T>(value: T): T {
  const open: object[] = [];
  const add = (part: unknown): void => {
    if (typeof part === "object" && part !== null && !done.has(part)) open.push(part);
  };
  add(value);
  for (let next = open.pop(); next; next = open.pop()) {
    if (!isPlain(next) && !isCollection(next)) continue;
    done.add(next);
    eachPart(next, add);
    if (isCollection(next)) closeEntries(next);
    Object.freeze(next);
  }
  return value;
}

const isCollection = (value: object): value is Map<unknown, unknown> | Set<unknown> =>
  value instanceof Map || value instanceof Set;

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}

/** One by one: as the arguments of a call a large collection would not fit on the stack. */
function eachPart(value: object, add: (part: unknown) => void): void {
  if (value instanceof Map) {
    value.forEach((entry, key) => {
      add(key);
      add(entry);
    });
  } else if (value instanceof Set) value.forEach(add);
  else {
    // Without calling a getter.
    for (const key of Reflect.ownKeys(value)) add(Object.getOwnPropertyDescriptor(value, key)?.value);
  }
}

/** Freezing a Map or a Set does not keep its entries. */
function closeEntries(collection: object): void {
  for (const name of CHANGES) if (name in collection) Object.defineProperty(collection, name, { value: refuse });
}

const CHANGES = ["add", "clear", "delete", "getOrInsert", "getOrInsertComputed", "set"];

function refuse(): never {
  throw new TypeError("A shared state is changed by what write() returns, and by nothing else.");
}

/**
 * A copy of a contribution at this moment. Its maker may still hold the object: a member that is replaced later, a longer list or a
 * getter with another answer does not reach those who were handed the copy. Methods still work on the original object, which may
 * keep a state of its own.
 */
export function snapshot<T extends object>(made: T): T {
  if (isSchema(made)) return frozen(made);
  if (Array.isArray(made)) return Object.freeze(made.map((each) => memberOf(each))) as unknown as T;
  const copy: Record<string, unknown> = {};
  for (const name of namesOf(made)) {
    const value: unknown = Reflect.get(made, name);
    // Not assigned: `__proto__` is a name like any other.
    const member = typeof value === "function" ? (value.bind(made) as unknown) : memberOf(value);
    Object.defineProperty(copy, name, { value: member, enumerable: true });
  }
  return Object.freeze(copy) as T;
}

/** What is no plain data keeps its identity: a client, a connection, bytes. */
const memberOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && (isPlain(value) || isSchema(value)) ? snapshot(value) : value;

/** One that is frozen goes on to be one: a copy would be another to whoever has made something of it already. */
const isSchema = (value: object): boolean => "~standard" in value;

/** Of the object and of its classes. */
function namesOf(made: object): Set<string> {
  const names = new Set<string>();
  for (let at: unknown = made; isObject(at) && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") names.add(name);
  }
  return names;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

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
