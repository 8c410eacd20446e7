/**
 * Plain data that nobody can change any more: objects, arrays, Maps and Sets, through and through. Instances of classes and
 * bytes stay as they are; `Object.freeze` would break the ones and refuses the others.
 */

/** A state that is made of an old one holds most of it: those parts are not looked through again. */
const done = new WeakSet<object>();

/** The value itself. */
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
