/**
 * Finds an object that two separately made object graphs both hold and that something could change. It looks wherever a program
 * could: into properties of every kind, what getters give, the entries of collections, and the properties of functions. What is
 * out of reach of any program is inspected by the suite's own means (`Hidden`).
 */

import type { Contributions } from "@svc/contract";

/** What is out of sight in an object: private fields, variables that a function closes over. */
export type Hidden = (value: object) => readonly (readonly [name: string, member: unknown])[];

/** The same of what two constructions of a feature gave. */
export const sharedByConstructions = (
  first: Contributions,
  second: Contributions,
  hidden?: Hidden,
): string | undefined => sharedState(parts(first), parts(second), hidden);

/** Tools may be one constant for all instances: they are stateless by contract, and the kernel takes them down as they are. */
const parts = ({ tools, ...rest }: Contributions): object => ({ ...rest, tools: tools?.map((tool) => ({ ...tool })) });

/**
 * The path to the first one, or undefined. Both are walked side by side, layer by layer: what both have and nobody can change is
 * code or a constant, and what that leads to is nobody's of the two.
 */
function sharedState(first: object, second: object, hidden: Hidden = () => []): string | undefined {
  const walks = [first, second].map((root) => ({ seen: new Set([root]), layer: new Map([[root, ROOT]]) })) as [
    Walk,
    Walk,
  ];
  const isShared = (value: object): boolean => walks.every(({ seen }) => seen.has(value));
  while (walks.some(({ layer }) => layer.size > 0)) {
    for (const walk of walks) walk.layer = layerBelow(walk, hidden);
    const below = walks.flatMap(({ layer }) => [...layer]).filter(([value]) => isShared(value));
    for (const [value, place] of below) {
      if (canChange(value, place)) return place.path;
      if (typeof value === "function") for (const { layer } of walks) layer.delete(value);
    }
  }
  return undefined;
}

interface Walk {
  readonly seen: Set<object>;
  layer: Map<object, Place>;
}

interface Place {
  readonly path: string;
  /** Below something that no program can reach. */
  readonly isOutOfSight: boolean;
}

const ROOT: Place = Object.freeze({ path: "", isOutOfSight: false });

function layerBelow({ seen, layer }: Walk, hidden: Hidden): Map<object, Place> {
  const below = new Map<object, Place>();
  const add = ({ path }: Place, name: string, member: unknown, isOutOfSight: boolean): void => {
    if (!isObject(member) || isSchema(member) || seen.has(member)) return;
    seen.add(member);
    below.set(member, { path: `${path}.${name}`, isOutOfSight });
  };
  for (const [value, place] of layer) {
    for (const [name, member] of members(value)) add(place, name, member, place.isOutOfSight);
    for (const [name, member] of hidden(value)) add(place, name, member, true);
  }
  return below;
}

function members(value: object): [string, unknown][] {
  const own: [string, unknown][] = namesOf(value).map((name) => [String(name), valueOf(value, name)]);
  if (value instanceof Map) return [...value].flatMap(([key, member]) => [...own, ["key", key], [String(key), member]]);
  if (value instanceof Set) return [...own, ...[...value].map((member): [string, unknown] => ["item", member])];
  return own;
}

/** Of an array of bytes they would be its bytes. */
const namesOf = (value: object): (string | symbol)[] =>
  ArrayBuffer.isView(value)
    ? []
    : Reflect.ownKeys(value).filter((name) => !(typeof value === "function" && name === "prototype"));

/** What a getter gives as well. */
function valueOf(value: object, name: string | symbol): unknown {
  try {
    return Reflect.get(value, name) as unknown;
  } catch {
    return undefined;
  }
}

function canChange(value: object, { isOutOfSight }: Place): boolean {
  if (CHANGES_INSIDE.some((kind) => value instanceof kind) || ArrayBuffer.isView(value)) return true;
  if (value instanceof RegExp) return value.global || value.sticky;
  if (Object.isFrozen(value)) return false;
  // Nobody keeps anything in these, but for what they add to one.
  if (typeof value === "function" || STATELESS.some((kind) => value instanceof kind)) return addedTo(value);
  // A constant of a module, whose changes would be written in its file.
  return !(isOutOfSight && isPlain(value));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}

/** Freezing one does not keep it from changing. */
const CHANGES_INSIDE = [Map, Set, WeakMap, WeakSet, Date, ArrayBuffer, SharedArrayBuffer];
const STATELESS = [TextEncoder, TextDecoder, Intl.Collator, Intl.DateTimeFormat, Intl.NumberFormat, Intl.Segmenter];

/** A property that no function, and no such object, comes with. */
const addedTo = (value: object): boolean =>
  Reflect.ownKeys(value).some((name) => Object.getOwnPropertyDescriptor(value, name)?.enumerable === true);

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

const isSchema = (value: object): boolean => "~standard" in value || ("kind" in value && value.kind === "schema");
