/** Changes values in a config's text and nothing else: comments, order, spacing and line breaks stay. */
import { isDeepStrictEqual } from "node:util";
import { SvcError } from "@svc/contract";
import { copyValue, emptyTable, isTable, keyText, type Path, type Table, valueAt } from "./table.ts";
import { parseToml } from "./toml.ts";
import { type ConfigValue, tomlValue } from "./toml-text.ts";

export interface ConfigChange {
  /** Names of tables and keys, numbers for items of a list. */
  readonly path: Path;
  readonly value: ConfigValue;
}

/**
 * `text` with each change made: in place where the key is there, else as a new line of its table, which is made when it is
 * missing. What the result says is compared with what was asked for. Throws CONFIG_INVALID for a text that is not TOML, and
 * CONFIG_UNWRITABLE where a change can't be made: a table in the place of a value, a value in the place of a table.
 */
export async function setConfigValues(text: string, changes: readonly ConfigChange[]): Promise<string> {
  const expected = await tableOf(text);
  let edited = text;
  for (const each of changes) {
    const change = forItem(expected, each);
    assign(expected, change);
    edited = await changed(edited, change);
  }
  edited = withLineBreaksOf(text, edited);
  if (!isDeepStrictEqual(await tableOf(edited).catch(() => undefined), expected)) throw unchangeable();
  return edited;
}

/** The only line breaks of `text` may have gone with a value that was replaced, so that what came after it has others. */
export const withLineBreaksOf = (text: string, edited: string): string =>
  text.includes("\r\n") && !BARE_LINE_FEED.test(text) ? edited.replaceAll(/\r?\n/g, "\r\n") : edited;

const BARE_LINE_FEED = /(?<!\r)\n/;

/**
 * `text` with one item more at the end of a list, which is made when it is missing; the same text where `isSame` finds it there.
 * Throws as `setConfigValues`.
 */
export async function addConfigItem(
  text: string,
  list: Path,
  item: ConfigValue,
  isSame: (item: unknown) => boolean,
): Promise<string> {
  const items = itemsOf(await tableOf(text), list);
  if (items.some(isSame)) return text;
  return setConfigValues(text, [{ path: [...list, items.length], value: item }]);
}

/** `text` without the items of a list that `isMeant` finds; comments stay. Throws as `setConfigValues`. */
export async function removeConfigItems(
  text: string,
  list: Path,
  isMeant: (item: unknown) => boolean,
): Promise<string> {
  const expected = await tableOf(text);
  const items = itemsOf(expected, list);
  const { readPlaces } = await import("./toml-places.ts");
  const places = readPlaces(text);
  let edited = text;
  // From the end, so that the places of those before stay right.
  for (let index = items.length - 1; index >= 0; index -= 1) {
    if (!isMeant(items[index])) continue;
    const range = places.rangeOf([...list, index]);
    if (!range) throw unchangeable(keyText(list));
    edited = withoutItem(edited, range);
    items.splice(index, 1);
  }
  if (!isDeepStrictEqual(await tableOf(edited).catch(() => undefined), expected)) throw unchangeable(keyText(list));
  return edited;
}

/** With the comma behind it, and its line where nothing else is on it. A comma that is left before the end of a list is none too many. */
function withoutItem(text: string, [start, end]: readonly [number, number]): string {
  const comma = /^\s*,/.exec(text.slice(end))?.[0].length ?? 0;
  const before = text.slice(0, start);
  const after = text.slice(end + comma);
  const lineStart = before.lastIndexOf("\n") + 1;
  const lineEnd = /^[ \t]*\r?\n/.exec(after)?.[0];
  if (lineStart > 0 && before.slice(lineStart).trim() === "" && lineEnd !== undefined) {
    return before.slice(0, lineStart) + after.slice(lineEnd.length);
  }
  return before + after.replace(/^ /, "");
}

/** The list itself, not a copy. */
function itemsOf(table: Table, list: Path): unknown[] {
  const items = valueAt(table, list) ?? [];
  if (!Array.isArray(items)) throw unchangeable(keyText(list));
  return items;
}

/** What a config's text says. Throws CONFIG_INVALID. */
export async function tableOf(text: string): Promise<Table> {
  const parsed = await parseToml(text);
  if ("table" in parsed) return parsed.table;
  const { line, column, message } = parsed.fault;
  const place = line === undefined ? "" : `line ${line}, column ${column}: `;
  throw new SvcError("CONFIG_INVALID", `The config is not TOML: ${place}${message}.`, {
    hint: "Correct it by hand, then run `svc config check`.",
  });
}

export const unchangeable = (key = "A value", cause?: unknown): SvcError =>
  new SvcError("CONFIG_UNWRITABLE", `${key} can't be changed in place in this config.`, {
    hint: "Nothing was changed. Edit the file by hand.",
    cause,
  });

/** The first item of a list that is not there is a new list. */
function forItem(table: Table, change: ConfigChange): ConfigChange {
  const list = change.path.slice(0, -1);
  if (change.path.at(-1) !== 0 || valueAt(table, list) !== undefined) return change;
  return { path: list, value: [change.value] };
}

async function changed(text: string, { path, value }: ConfigChange): Promise<string> {
  const [{ readPlaces }, { insertionOf }] = await Promise.all([import("./toml-places.ts"), import("./toml-insert.ts")]);
  try {
    const range = readPlaces(text).rangeOf(path);
    const written = text.includes("\r\n") ? tomlValue(value).replaceAll("\n", "\r\n") : tomlValue(value);
    if (range) return text.slice(0, range[0]) + written + text.slice(range[1]);
    const insertion = insertionOf(text, path, written);
    if (insertion) return text.slice(0, insertion.at) + insertion.text + text.slice(insertion.at);
  } catch (cause) {
    // The two parsers differ at the edges of TOML.
    throw unchangeable(keyText(path), cause);
  }
  throw unchangeable(keyText(path));
}

/** A name never reaches into a list: `__proto__` of one is every list's. */
function assign(root: Table, { path, value }: ConfigChange): void {
  let holder: unknown = root;
  for (const [depth, name] of path.entries()) {
    const fits = typeof name === "number" ? Array.isArray(holder) && name <= holder.length : isTable(holder);
    if (!fits) throw unchangeable(keyText(path));
    const table = holder as Table;
    if (depth === path.length - 1) table[name] = copyValue(value);
    else holder = table[name] ??= emptyTable();
  }
}
