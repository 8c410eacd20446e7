/** Values and keys as TOML writes them. */

export type ConfigValue = string | number | boolean | readonly ConfigValue[] | ConfigTable;
export interface ConfigTable {
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
