/**
 * TOML to plain data, and values and keys as TOML writes them. A text that does not parse is told by place and cause, without a
 * character of it.
 */
import type { Table } from "./table.ts";
import { type Place, faultIn, readPlaces } from "./toml-places.ts";

export interface SyntaxFault extends Partial<Place> {
  readonly message: string;
}

export function parseToml(text: string): { table: Table } | { fault: SyntaxFault } {
  try {
    return { table: readPlaces(text).table };
  } catch (error) {
    if (error instanceof RangeError) return { fault: { message: "tables or lists are nested too deeply" } };
    const found = faultIn(error);
    if (!found) return { fault: { message: "this is not TOML" } };
    const { cause, ...place } = found;
    return { fault: { ...(OPEN.test(cause) ? endBefore(place, cause, text) : place), message: causeOf(cause) } };
  }
}

/** The parser sees that a line is not complete when it comes to the next one. */
const OPEN = /^(Unterminated table-key|The key, equals sign)/;

/** Behind the line that is not complete; of a table's name its last character. */
function endBefore({ line, column }: Place, cause: string, text: string): Place {
  const before = column === 1 ? text.split(/\r?\n/, line - 1)[line - 2] : undefined;
  const end = before === undefined ? { line, column } : { line: line - 1, column: before.length + 1 };
  return cause.startsWith("Unterminated") ? { ...end, column: Math.max(1, end.column - 1) } : end;
}

/** Our sentence for what the parser said. Its own may quote a character of the file. */
function causeOf(said: string): string {
  const known = CAUSES.find(([pattern]) => pattern.test(said));
  return known ? known[1] : "this is not TOML";
}

const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^Defining a key/, "this key or table is there already"],
  [/^(Unterminated string|Three or more quotes)/, "a text is not closed by its quote"],
  [/^Unterminated table-key/, "a table's name ends with ]"],
  [/^Unterminated/, "a list or table is not closed by its bracket"],
  [/^(Unspecified values|Expected equal)/, 'a key needs "=" and a value'],
  [/^(Empty bare|Consecutive dots|Keys cannot)/, "a key is missing here"],
  [/^(No newlines|Trailing comma)/, "a table in braces stands on one line, without a comma at its end"],
  [/^Must be a newline/, "only a comment may follow on this line"],
  [/^Expected comma/, "items of a list or table are parted by commas"],
  [/escape sequence/, "an escape in a text is wrong; 'single quotes' take \\ as it is"],
  [/^(Control characters|Invalid code point)/, "a control character stands here"],
  [/(date|time|Leading zeros|Underscores)/, "this is no number or date; text belongs in quotes"],
  [/^(The key, equals sign|Unexpected)/, "a value belongs here: text in quotes, a number, true, false or a list"],
];

// Writing.

export type ConfigValue = string | number | boolean | readonly ConfigValue[] | ConfigTable;
interface ConfigTable {
  readonly [key: string]: ConfigValue;
}

/** A basic string: JSON's, but for DEL, which TOML wants escaped, and lone surrogates, which it can't say. */
export const tomlText = (text: string): string => JSON.stringify(text.toWellFormed()).replaceAll("\u007f", "\\u007f");

export function tomlValue(value: ConfigValue): string {
  if (typeof value === "string") return tomlText(value);
  if (typeof value !== "object") return String(value);
  if (!isList(value)) {
    const pairs = Object.entries(value).map(([name, inner]) => `${tomlKey([name])} = ${tomlValue(inner)}`);
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  // Tables are long: each on a line of its own.
  if (value.some((item) => typeof item === "object" && !isList(item))) {
    return `[\n${value.map((item) => `  ${tomlValue(item)},\n`).join("")}]`;
  }
  return `[${value.map(tomlValue).join(", ")}]`;
}

const isList = (value: object): value is readonly ConfigValue[] => Array.isArray(value);

/** A dotted key; what can't stand bare is quoted. */
export const tomlKey = (names: readonly string[]): string =>
  names.map((name) => (/^[\w-]+$/.test(name) ? name : tomlText(name))).join(".");
