/** The file's content as plain data. Tables have no prototype: a key named `constructor` or `__proto__` is only a key. */

export type Path = readonly (string | number)[];
export interface Table {
  [key: string]: unknown;
}

export const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

export const emptyTable = (): Table => Object.create(null) as Table;

/** Keys on the way to a value. No schema of ours goes as deep, and what goes deeper by far ends the stack or takes all memory. */
const DEEPEST = 100;

/** Throws RangeError. */
export function checkDepth(depth: number): void {
  if (depth > DEEPEST) throw new RangeError("nested too deeply");
}

/** A deep copy that shares nothing with `value`. Dates are kept as they are. Throws RangeError for what is nested too deeply. */
export function copyValue(value: unknown, depth = 0): unknown {
  checkDepth(depth);
  if (Array.isArray(value)) return value.map((inner) => copyValue(inner, depth + 1));
  if (!isTable(value)) return value;
  const table = emptyTable();
  for (const [key, inner] of Object.entries(value)) table[key] = copyValue(inner, depth + 1);
  return table;
}

export function valueAt(table: Table, path: Path): unknown {
  let value: unknown = table;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Table)[name];
  }
  return value;
}

/** False when something on the way is no table; nothing is changed then. */
export function setAt(table: Table, path: readonly string[], value: unknown): boolean {
  const last = path.at(-1);
  if (last === undefined) return false;
  for (let depth = 1; depth < path.length; depth += 1) {
    const way = valueAt(table, path.slice(0, depth));
    if (way !== undefined && !isTable(way)) return false;
  }
  let target = table;
  for (const name of path.slice(0, -1)) target = (target[name] ??= emptyTable()) as Table;
  target[last] = value;
  return true;
}

/** A name longer than this is no key of ours but may be a value that slipped, so only its beginning is shown. */
const LONGEST_NAME = 32;

/** `gateway.port`, `peripherals.boards[0].baud`; what is no bare key is quoted and made visible. */
export function keyText(path: Path): string {
  let text = "";
  for (const name of path) {
    if (typeof name === "number") text += `[${name}]`;
    else text += (text === "" ? "" : ".") + nameText(name);
  }
  return text;
}

function nameText(name: string): string {
  const short = name.length > LONGEST_NAME ? `${name.slice(0, 8)}…` : name;
  if (/^[\w-]+…?$/.test(short)) return short;
  return JSON.stringify(short).replace(/[^\x20-\x7e…]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
