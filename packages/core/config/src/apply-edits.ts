/**
 * Edits of a config's text: values set, keys and tables removed, items added to lists; comments, order, spacing and line breaks of
 * everything else stay. What the result says is compared with what was asked for, so that no edit can damage a neighbour.
 */
import { isDeepStrictEqual } from "node:util";
import { SvcError } from "@svc/contract";
import { type ConfigChange, setConfigValues, tableOf, unchangeable, withLineBreaksOf } from "./edit-config.ts";
import { copyValue, isTable, keyText, type Path, type Table, valueAt } from "./table.ts";
import { type ConfigValue, tomlKey, tomlValue } from "./toml-text.ts";

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
  const { lastItemEnd } = await import("./toml-item-tables.ts");
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
  const { removalsOf } = await import("./toml-remove.ts");
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
