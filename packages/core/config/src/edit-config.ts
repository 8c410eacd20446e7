/** Changes values in a config's text and nothing else: comments, order, spacing and line breaks stay. */
import { isDeepStrictEqual } from "node:util";
import { SvcError } from "@svc/contract";
import { type Path, type Table, copyValue, emptyTable, isTable, keyText, valueAt } from "./table.ts";
import { type ConfigValue, parseToml, tomlKey, tomlValue } from "./toml.ts";

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
const withLineBreaksOf = (text: string, edited: string): string =>
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
async function tableOf(text: string): Promise<Table> {
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
  const [{ readPlaces }, { insertionOf }] = await Promise.all([import("./toml-places.ts"), import("./toml-edits.ts")]);
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

// Edits by path, as a settings page sends them: values set, keys and tables removed, items added to lists. What the result says is compared
// with what was asked for, so that no edit can damage a neighbour.

/** Names of tables and keys, numbers for items of a list. */
export type ConfigEdit = ConfigChange | { readonly path: Path; readonly remove: true };

/**
 * `text` with each edit made, in order. What is to be removed need not be there. Throws CONFIG_INVALID for a text that is not TOML, and
 * CONFIG_UNWRITABLE with the line where an edit can't be made in place.
 */
export async function applyConfigEdits(text: string, edits: readonly ConfigEdit[]): Promise<string> {
  let edited = text;
  for (const edit of edits) {
    edited = "remove" in edit ? await removed(edited, edit.path) : await set(edited, edit);
  }
  return withLineBreaksOf(text, edited);
}

async function set(text: string, change: ConfigChange): Promise<string> {
  const table = await tableOf(text);
  const { path, value } = change;
  const before = valueAt(table, path);
  if (before !== undefined && isDeepStrictEqual(before, copyValue(value))) return text;
  const appended = await withItemTable(text, table, change);
  if (appended !== undefined) return appended;
  const itemwise = Array.isArray(before) && Array.isArray(value) ? itemEdits(path, before, value) : undefined;
  if (itemwise) {
    const edited = await applyConfigEdits(text, itemwise).catch(() => undefined);
    if (edited !== undefined && isDeepStrictEqual(valueAt(await tableOf(edited), path), copyValue(value)))
      return edited;
  }
  const { readPlaces } = await import("./toml-places.ts");
  // A table with a header, or a list of such: it makes room first.
  if (before !== undefined && typeof before === "object" && !readPlaces(text).rangeOf(path)) {
    const rest = await removed(text, path);
    return setConfigValues(rest, [change]).catch((error: unknown) => placed(text, path, error));
  }
  return setConfigValues(text, [change]).catch((error: unknown) => placed(text, path, error));
}

/** What makes one list of another, item by item, so that comments between them stay; undefined: nothing short of a new list. */
function itemEdits(path: Path, before: readonly unknown[], value: readonly ConfigValue[]): ConfigEdit[] | undefined {
  const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, copyValue(other));
  const most = Math.min(before.length, value.length);
  let head = 0;
  while (head < most && isSame(before[head], value[head])) head += 1;
  let tail = 0;
  while (tail < most - head && isSame(before.at(-1 - tail), value.at(-1 - tail))) tail += 1;
  const [old, next] = [before.length - tail, value.length - tail];
  if (before.length === 0 || (next > old && tail > 0)) return undefined;
  const edits: ConfigEdit[] = [];
  for (let at = head; at < Math.min(old, next); at += 1) edits.push({ path: [...path, at], value: value[at]! });
  for (let at = old - 1; at >= next; at -= 1) edits.push({ path: [...path, at], remove: true });
  for (let at = old; at < next; at += 1) edits.push({ path: [...path, at], value: value[at]! });
  return edits;
}

/** The next item of a list that is written as `[[list]]`: one more of these. */
async function withItemTable(text: string, table: Table, { path, value }: ConfigChange): Promise<string | undefined> {
  const list = path.slice(0, -1);
  const items = valueAt(table, list);
  if (!isTable(value) || !Array.isArray(items) || path.at(-1) !== items.length || items.length === 0) return undefined;
  const { lastItemEnd } = await import("./toml-edits.ts");
  const at = lastItemEnd(text, [...list, items.length - 1]);
  if (at === undefined) return undefined;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const names = list.filter((name) => typeof name === "string");
  const pairs = Object.entries(value).map(([name, inner]) => `${tomlKey([name])} = ${inline(inner as ConfigValue)}`);
  const block = [`[[${tomlKey(names)}]]`, ...pairs].join(eol);
  const after = text.slice(at);
  const edited = `${text.slice(0, at)}${eol}${eol}${block}${after === "" ? eol : after}`;
  const expected = copyValue(table) as Table;
  (valueAt(expected, list) as unknown[]).push(copyValue(value));
  return proven(text, edited, expected, path);
}

/** On one line. */
const inline = (value: ConfigValue): string => tomlValue(value).replaceAll(/\n\s*/g, " ");

async function removed(text: string, path: Path): Promise<string> {
  const expected = await tableOf(text);
  const holder = valueAt(expected, path.slice(0, -1));
  const name = path.at(-1);
  if (name === undefined || valueAt(expected, path) === undefined) return text;
  if (Array.isArray(holder) && typeof name === "number") holder.splice(name, 1);
  else if (isTable(holder)) delete holder[name];
  const { removalsOf } = await import("./toml-edits.ts");
  try {
    let edited = text;
    for (const [start, end] of removalsOf(text, path).toReversed()) edited = edited.slice(0, start) + edited.slice(end);
    return await proven(text, edited, expected, path);
  } catch (error) {
    return placed(text, path, error);
  }
}

/** A table that held nothing else is gone with its last dotted key, which says the same. */
async function proven(text: string, edited: string, expected: Table, path: Path): Promise<string> {
  const said = await tableOf(edited).catch(() => undefined);
  if (said && isDeepStrictEqual(withoutEmpty(said, path), withoutEmpty(expected, path))) return edited;
  return placed(text, path, unchangeable(keyText(path)));
}

/** Without the tables around `path` that hold nothing. */
function withoutEmpty(table: Table, path: Path): Table {
  const copy = copyValue(table) as Table;
  for (let length = path.length - 1; length > 0; length -= 1) {
    const holder = valueAt(copy, path.slice(0, length));
    const outer = valueAt(copy, path.slice(0, length - 1));
    const name = path[length - 1]!;
    const isEmpty = (isTable(holder) || Array.isArray(holder)) && Object.keys(holder).length === 0;
    if (isEmpty && isTable(outer)) delete outer[name];
  }
  return copy;
}

/** The same error with the line that is in the way. */
async function placed(text: string, path: Path, error: unknown): Promise<never> {
  if (!(error instanceof SvcError) || error.code !== "CONFIG_UNWRITABLE") throw error;
  const { readPlaces } = await import("./toml-places.ts");
  let line: number | undefined;
  try {
    line = readPlaces(text).placeOf(path, "value")?.line;
  } catch {
    // The two parsers differ at the edges of TOML.
  }
  const at = line === undefined ? "" : ` See line ${line}.`;
  throw new SvcError(error.code, `${error.message}${at}`, {
    ...(error.hint !== undefined && { hint: error.hint }),
    cause: error,
  });
}
