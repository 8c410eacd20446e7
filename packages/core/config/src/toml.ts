/**
 * TOML to plain data, and values and keys as TOML writes them. A text that does not parse is told by place and cause, without a
 * character of it.
 */
import { parse } from "@iarna/toml";
import { type Table, copyValue } from "./table.ts";

export interface SyntaxFault {
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/**
 * The parser takes up what an object inherits when a table is named so: `[constructor]` would write into `Object`. The
 * rare text that has such a word, or an escape that may spell one, is read by the other parser.
 */
const INHERITED = new RegExp(
  Object.getOwnPropertyNames(Object.prototype)
    .filter((name) => name !== "__proto__")
    .concat(String.raw`\\[uU]`)
    .join("|"),
);

export async function parseToml(text: string): Promise<{ table: Table } | { fault: SyntaxFault }> {
  // To the parser a comment that ends with CRLF has a control character in it.
  const unix = text.replaceAll("\r\n", "\n");
  try {
    if (INHERITED.test(unix)) return { table: (await import("./toml-places.ts")).readPlaces(unix).table };
    return { table: copyValue(parse(unix)) as Table };
  } catch (error) {
    return { fault: await faultOf(error, text) };
  }
}

/** Both parsers say where they gave up; the earlier place is the nearer to the mistake. */
async function faultOf(error: unknown, text: string): Promise<SyntaxFault> {
  if (error instanceof RangeError) return { message: "tables or lists are nested too deeply" };
  const { line, col, message } = error as { line?: number; col?: number; message: string };
  const { syntaxFault } = await import("./toml-places.ts");
  const other = syntaxFault(text);
  if (line === undefined) return { ...(other && placeOf(other)), message: causeOf(other?.cause ?? message) };
  const own = { line: line + 1, column: Math.max(1, col ?? 1) };
  const earlier = other && (other.line - own.line || other.column - own.column) < 0 ? placeOf(other) : own;
  return { ...earlier, message: causeOf(message) };
}

const placeOf = ({ line, column }: { line: number; column: number }) => ({ line, column });

/** Our sentence for what a parser said. Its own is never passed on: it goes on with lines of the file. */
function causeOf(said: string): string {
  const known = CAUSES.find(([pattern]) => pattern.test(said));
  return known ? known[1] : "this is not TOML";
}

const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^(Can't redefine|Can't extend|Defining a key)/, "this key or table is there already"],
  [/^Unterminated (multi-line )?string/, "a text is not closed by its quote"],
  [/^Unterminated/, "a list or table is not closed by its bracket"],
  [/^Unexpected character, expecting string/, "a value belongs here: text in quotes, a number, true, false or a list"],
  [/^(Unspecified values|Key without value|Key ended without value)/, 'a key needs "=" and a value'],
  [/^(Invalid character, expected "="|Expected equal)/, '"=" belongs after the key'],
  [/^Unexpected character, expected only whitespace/, "only a comment may follow on this line"],
  [/^Invalid character, expected whitespace, comma/, "items of a list or table are parted by commas"],
  [/^Expected comma/, "items of a list or table are parted by commas"],
  [/^Unexpected character, expected whitespace, \. or \]/, "a table's name ends with ]"],
  [/^Invalid boolean/, "a value belongs here: true, false, or text in quotes"],
  [
    /(Unknown escape|escape sequence|unicode|code point)/i,
    "an escape in a text is wrong; 'single quotes' take \\ as it is",
  ],
  [/^Control characters/, "a control character stands here"],
  [
    /(date|time|year|Hours|Days|Months|digit|number|Leading zeros)/i,
    "this is no number or date; text belongs in quotes",
  ],
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
