/**
 * Plain data that nobody can change any more: objects, arrays, Maps and Sets, through and through. Instances of classes and
 * bytes stay as they are; `Object.freeze` would break the ones and refuses the others.
 */

/** A state that is made of an old one holds most of it: those parts are not looked through again. */
const done = new WeakSet<object>();

/** The value itself. */
export function frozen<T>(value: T): T {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null || done.has(next)) continue;
    if (next instanceof Map) open.push(...next.keys(), ...next.values());
    else if (next instanceof Set) open.push(...next);
    else if (isPlain(next)) open.push(...membersOf(next));
    else continue;
    done.add(next);
    if (next instanceof Map || next instanceof Set) closeEntries(next);
    Object.freeze(next);
  }
  return value;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}

/** Without calling a getter. */
const membersOf = (value: object): unknown[] =>
  Reflect.ownKeys(value).map((key): unknown => Object.getOwnPropertyDescriptor(value, key)?.value);

/** Freezing a Map or a Set does not keep its entries. */
function closeEntries(collection: object): void {
  for (const name of CHANGES) if (name in collection) Object.defineProperty(collection, name, { value: refuse });
}

const CHANGES = ["add", "clear", "delete", "getOrInsert", "getOrInsertComputed", "set"];

function refuse(): never {
  throw new TypeError("A shared state is changed by what write() returns, and by nothing else.");
}
