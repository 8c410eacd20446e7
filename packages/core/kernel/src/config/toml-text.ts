/** Values and keys as TOML writes them. */

export type ConfigValue = string | number | boolean | readonly ConfigValue[];

/** A basic string: JSON's, but for DEL, which TOML wants escaped, and lone surrogates, which it can't say. */
export const tomlText = (text: string): string => JSON.stringify(text.toWellFormed()).replaceAll("\u007f", "\\u007f");

export function tomlValue(value: ConfigValue): string {
  if (typeof value === "string") return tomlText(value);
  if (typeof value !== "object") return String(value);
  return `[${value.map(tomlValue).join(", ")}]`;
}

/** A dotted key; what can't stand bare is quoted. */
export const tomlKey = (names: readonly string[]): string =>
  names.map((name) => (/^[\w-]+$/.test(name) ? name : tomlText(name))).join(".");
