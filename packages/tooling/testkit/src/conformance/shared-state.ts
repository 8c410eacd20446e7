/** Finds an object that two separately made object graphs both hold and that something could change. */

/** Deep enough for a client inside a connection inside a channel. */
const DEEPEST = 6;

/** The path to the first one, or undefined. Schemas are constants by nature and not looked into. */
export function sharedState(first: object, second: object): string | undefined {
  const known = new Set<object>();
  walk(first, "", 0, new Set(), (value) => {
    known.add(value);
    return false;
  });
  return walk(second, "", 0, new Set(), (value) => known.has(value) && canChange(value));
}

function walk(
  value: unknown,
  path: string,
  depth: number,
  seen: Set<object>,
  found: (value: object) => boolean,
): string | undefined {
  if (typeof value !== "object" || value === null || seen.has(value) || isSchema(value)) return undefined;
  seen.add(value);
  if (found(value)) return path;
  if (depth >= DEEPEST) return undefined;
  for (const [key, member] of members(value)) {
    const hit = walk(member, `${path}.${key}`, depth + 1, seen, found);
    if (hit !== undefined) return hit;
  }
  return undefined;
}

function members(value: object): [string, unknown][] {
  if (value instanceof Map) return [...value].map(([key, member]) => [String(key), member]);
  if (value instanceof Set) return [...value].map((member, index) => [String(index), member]);
  return Object.entries(Object.getOwnPropertyDescriptors(value)).flatMap(([key, { value: member }]) =>
    member === undefined ? [] : [[key, member] as [string, unknown]],
  );
}

/** Freezing a Map or Set does not keep it from changing. */
const canChange = (value: object): boolean =>
  value instanceof Map || value instanceof Set || value instanceof WeakMap || !Object.isFrozen(value);

const isSchema = (value: object): boolean => "~standard" in value || ("kind" in value && value.kind === "schema");
