/**
 * A contribution as it is when it is taken down. Whoever made it may hold it still: what becomes of that object later, a member
 * replaced, a list made longer, a getter that answers otherwise, reaches nobody who was handed this one.
 */
import { frozen } from "../shared/frozen.ts";

/** Methods go on to work on the object they came with, which may keep a state of its own. */
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

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}

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
