/** `$.a.b[0]`: a place in a JSON value, as conditions and arguments name one. */

/** From the outside in. Text is a name, or the number of an item written as `.1`; a number was written as `[1]`. */
export type JsonPath = readonly (string | number)[];

export interface Read<Value> {
  readonly value: Value;
  /** Where it stops. */
  readonly end: number;
}

/** Reads the path that begins at `start`. Undefined when none does. */
export function readPath(text: string, start: number): Read<JsonPath> | undefined {
  if (text[start] !== "$") return undefined;
  const path: (string | number)[] = [];
  let at = start + 1;
  while (text[at] === "." || text[at] === "[") {
    const part = text[at] === "." ? readName(text, at + 1) : readBracket(text, at + 1);
    if (!part) return undefined;
    path.push(part.value);
    at = part.end;
  }
  return { value: path, end: at };
}

/** The path that a text is, and nothing else. */
export function wholePath(text: string): JsonPath | undefined {
  const read = readPath(text, 0);
  return read?.end === text.length ? read.value : undefined;
}

/** Undefined when there is no such place; JSON itself has no such value. */
export function valueAt(root: unknown, path: JsonPath): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !fits(value, part)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[part];
  }
  return value;
}

/** What a list or text inherits (`length`) is no part of the JSON. */
function fits(holder: object, part: string | number): boolean {
  if (Array.isArray(holder)) return isIndex(part) && Object.hasOwn(holder, part);
  return typeof part === "string" && Object.hasOwn(holder, part);
}

const isIndex = (part: string | number): boolean =>
  typeof part === "number" || (part.length < 10 && String(Number(part)) === part && !part.startsWith("-"));

const ENDS_NAME = new Set(".[]<>=!\"'");

function readName(text: string, start: number): Read<string> | undefined {
  let end = start;
  while (end < text.length && !ENDS_NAME.has(text[end]!) && !isSpace(text[end]!)) end += 1;
  return end === start ? undefined : { value: text.slice(start, end), end };
}

function readBracket(text: string, start: number): Read<string | number> | undefined {
  const inside = isQuote(text[start]) ? readText(text, start) : readIndex(text, start);
  return inside && text[inside.end] === "]" ? { value: inside.value, end: inside.end + 1 } : undefined;
}

function readIndex(text: string, start: number): Read<number> | undefined {
  let end = start;
  while (end - start < 10 && isDigit(text[end])) end += 1;
  return end === start || end - start > 9 ? undefined : { value: Number(text.slice(start, end)), end };
}

/** Text in quotes: "double" with the escapes of JSON, 'single' with none. */
export function readText(text: string, start: number): Read<string> | undefined {
  const quote = text[start];
  let end = start + 1;
  while (end < text.length && text[end] !== quote) end += quote === '"' && text[end] === "\\" ? 2 : 1;
  if (end >= text.length) return undefined;
  const value = quote === "'" ? text.slice(start + 1, end) : unescaped(text.slice(start, end + 1));
  return value === undefined ? undefined : { value, end: end + 1 };
}

function unescaped(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

export const isQuote = (character: string | undefined): boolean => character === '"' || character === "'";
export const isSpace = (character: string | undefined): boolean => character !== undefined && character.trim() === "";
const isDigit = (character: string | undefined): boolean => character !== undefined && /^[0-9]$/.test(character);
