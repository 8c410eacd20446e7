/**
 * Edits of a config's text by its syntax tree: where a key that the file does not have belongs, and which ranges go when something is
 * removed. Comments on lines of their own stay.
 */
import type { AST } from "toml-eslint-parser";
import type { Path } from "./table.ts";
import { nameOf, parseTree } from "./toml-places.ts";
import { tomlKey } from "./toml.ts";

export interface Insertion {
  readonly at: number;
  readonly text: string;
}

type Holder = AST.TOMLTopLevelTable | AST.TOMLTable | AST.TOMLInlineTable | AST.TOMLArray;

/** Something the key could be written into. */
interface Spot {
  readonly holder: Holder;
  /** How many names of the path the holder itself stands for. */
  readonly depth: number;
  /** How many it has keys for: more than `depth` where dotted keys go on from it. */
  readonly covered: number;
  /** What the key goes behind. */
  readonly after?: AST.TOMLNode;
}

/** `value` is TOML. Undefined where the path leads through something that can't hold it. Throws ParseError. */
export function insertionOf(text: string, path: Path, value: string): Insertion | undefined {
  const top = parseTree(text);
  const spots = spotsIn(top, path);
  if (!spots) return undefined;
  const best = spots.reduce((one, other) => (other.covered > one.covered ? other : one));
  const { holder, depth, covered } = best;
  if (holder.type === "TOMLArray") return path.length === depth + 1 ? intoArray(text, holder, value) : undefined;
  const names = path.slice(depth);
  if (!isNames(names)) return undefined;
  const pair = `${tomlKey(names)} = ${value}`;
  if (holder.type === "TOMLInlineTable") return intoInlineTable(holder, pair, best.after);
  // A table made by dotted keys can't have a header as well.
  if (names.length === 1 || covered > depth) return intoTable(text, top, best, pair);
  return newTable(text, top, path, `${tomlKey([String(path.at(-1))])} = ${value}`);
}

/** Undefined where a value on the way is neither table nor list. */
function spotsIn(top: AST.TOMLTopLevelTable, path: Path): Spot[] | undefined {
  const roots = top.body.filter((node) => node.type === "TOMLKeyValue");
  const spots = spotsOf(top, roots, [], path);
  for (const node of top.body) {
    if (node.type !== "TOMLTable" || sharedLength(node.resolvedKey, path) < node.resolvedKey.length) continue;
    const inside = spotsOf(node, node.body, node.resolvedKey, path);
    if (!inside) return undefined;
    spots?.push(...inside);
  }
  return spots;
}

function spotsOf(holder: Holder, pairs: readonly AST.TOMLKeyValue[], base: Path, path: Path): Spot[] | undefined {
  if (base.length >= path.length) return undefined;
  const spots: Spot[] = [spotOf(holder, base.length, base.length, pairs.at(-1))];
  for (const pair of pairs) {
    const key = [...base, ...pair.key.keys.map(nameOf)];
    const covered = sharedLength(key, path);
    if (covered === key.length) {
      const inside = spotsOfValue(pair.value, key, path);
      if (!inside) return undefined;
      spots.push(...inside);
    } else if (covered > base.length) spots.push(spotOf(holder, base.length, covered, pair));
  }
  return spots;
}

function spotsOfValue(value: AST.TOMLContentNode, base: Path, path: Path): Spot[] | undefined {
  if (value.type === "TOMLInlineTable") return spotsOf(value, value.body, base, path);
  if (value.type !== "TOMLArray" || base.length >= path.length) return undefined;
  const index = path[base.length];
  if (typeof index !== "number") return undefined;
  const element = value.elements[index];
  if (element) return spotsOfValue(element, [...base, index], path);
  return index === value.elements.length ? [spotOf(value, base.length, base.length, value.elements.at(-1))] : undefined;
}

const spotOf = (holder: Holder, depth: number, covered: number, after: AST.TOMLNode | undefined): Spot => ({
  holder,
  depth,
  covered,
  ...(after && { after }),
});

function sharedLength(one: Path, other: Path): number {
  const length = one.findIndex((name, index) => name !== other[index]);
  return length === -1 ? one.length : length;
}

const isNames = (path: Path): path is readonly string[] => path.every((name) => typeof name === "string");

function intoArray(text: string, array: AST.TOMLArray, value: string): Insertion {
  const last = array.elements.at(-1);
  const before = last && text.slice(lineStart(text, last.range[0]), last.range[0]);
  // Where each item has a line of its own, so has the next one.
  if (last && before?.trim() === "") return { at: last.range[1], text: `,${lineBreakOf(text)}${before}${value}` };
  return last ? { at: last.range[1], text: `, ${value}` } : { at: array.range[0] + 1, text: value };
}

const intoInlineTable = (table: AST.TOMLInlineTable, pair: string, after: AST.TOMLNode | undefined): Insertion =>
  after ? { at: after.range[1], text: `, ${pair}` } : { at: table.range[0] + 1, text: ` ${pair} ` };

function intoTable(text: string, top: AST.TOMLTopLevelTable, { holder, after }: Spot, pair: string): Insertion {
  const eol = lineBreakOf(text);
  const line = after ?? (holder.type === "TOMLTable" ? holder.key : undefined);
  if (line) return { at: lineEnd(text, line.range[1]), text: `${eol}${indentOf(text, line.range[0])}${pair}` };
  // Keys of no table stand before the first one.
  const first = top.body[0];
  return first ? { at: lineStart(text, first.range[0]), text: `${pair}${eol}${eol}` } : atEnd(text, pair, eol);
}

/** Behind the tables nearest to it, or at the end. */
function newTable(text: string, top: AST.TOMLTopLevelTable, path: Path, pair: string): Insertion | undefined {
  const eol = lineBreakOf(text);
  const parent = path.slice(0, -1);
  let near: { node: AST.TOMLTable; shared: number } | undefined;
  for (const node of top.body) {
    if (node.type !== "TOMLTable") continue;
    const shared = sharedLength(node.resolvedKey, parent);
    if (shared > 0 && shared >= (near?.shared ?? 0)) near = { node, shared };
  }
  // What is below an item of a list belongs to the item before it.
  if (!isNames(parent.slice(near?.shared ?? 0))) return undefined;
  const block = `[${tomlKey(parent.filter((name) => typeof name === "string"))}]${eol}${pair}`;
  if (!near) return atEnd(text, block, eol);
  const last = near.node.body.at(-1) ?? near.node.key;
  return { at: commentsEnd(text, lineEnd(text, last.range[1])), text: `${eol}${eol}${block}` };
}

/**
 * Past the comments right below a table's last key: a key shown in one is meant to be uncommented there, in this table.
 * Those that the next table's header follows at once are that one's.
 */
function commentsEnd(text: string, at: number): number {
  const comments = /^(?:\r?\n[ \t]*#[^\r\n]*)*/.exec(text.slice(at))?.[0] ?? "";
  const end = at + comments.length;
  return /^\r?\n[ \t]*\[/.test(text.slice(end)) ? at : end;
}

function atEnd(text: string, block: string, eol: string): Insertion {
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : `${eol}${eol}`;
  return { at: text.length, text: `${gap}${block}${eol}` };
}

const lineBreakOf = (text: string): string => (/\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n");
const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

/** Before the line break. A comment behind a value stays with it. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  if (end === -1) return text.length;
  return text[end - 1] === "\r" ? end - 1 : end;
}

const indentOf = (text: string, at: number): string => /^[ \t]*/.exec(text.slice(lineStart(text, at), at))?.[0] ?? "";

// Removing.

export type Range = readonly [start: number, end: number];

/** In order, none overlaps another; empty where the text has nothing at the path. Throws ParseError. */
export function removalsOf(text: string, path: Path): readonly Range[] {
  const ranges: Range[] = [];
  const inTable = (pairs: readonly AST.TOMLKeyValue[], base: Path): void => {
    for (const pair of pairs) {
      const key = [...base, ...pair.key.keys.map(nameOf)];
      if (isAtOrBelow(key, path)) ranges.push(lineRange(text, pair.range));
      else inside(pair.value, key);
    }
  };
  const inside = (value: AST.TOMLContentNode, key: Path): void => {
    if (!isAtOrBelow(path, key)) return;
    if (value.type === "TOMLInlineTable") {
      const meant = value.body.filter((pair) => isAtOrBelow([...key, ...pair.key.keys.map(nameOf)], path));
      const goesEmpty = meant.length === value.body.length;
      for (const pair of meant) ranges.push(goesEmpty ? pair.range : itemRange(text, pair.range, value));
      for (const pair of value.body) {
        if (!meant.includes(pair)) inside(pair.value, [...key, ...pair.key.keys.map(nameOf)]);
      }
      // Commas between what goes as a whole go with it.
      if (goesEmpty && meant.length > 1) {
        ranges.splice(-meant.length, meant.length, [meant[0]!.range[0], meant.at(-1)!.range[1]]);
      }
    } else if (value.type === "TOMLArray") {
      const index = path[key.length];
      const element = typeof index === "number" ? value.elements[index] : undefined;
      if (!element) return;
      if (path.length === key.length + 1) ranges.push(itemRange(text, element.range, value));
      else inside(element, [...key, index!]);
    }
  };
  for (const node of parseTree(text).body) {
    if (node.type === "TOMLKeyValue") inTable([node], []);
    else if (isAtOrBelow(node.resolvedKey, path)) ranges.push(tableRange(text, node));
    else inTable(node.body, node.resolvedKey);
  }
  return ranges;
}

/** `path` is `base`, or goes on from it. */
const isAtOrBelow = (path: Path, base: Path): boolean =>
  path.length >= base.length && base.every((name, index) => name === path[index]);

/** The header and every key of the table; comments behind the last one stay, as they may be about the next table. */
function tableRange(text: string, node: AST.TOMLTable): Range {
  const last = node.body.at(-1) ?? node.key;
  const [start, end] = lineRange(text, [node.range[0], last.range[1]]);
  // The blank line in front of a table goes with it.
  const before = /(?:^|\n)([ \t]*\r?\n)$/.exec(text.slice(0, start))?.[1]?.length ?? 0;
  return [start - before, end];
}

/** Whole lines, with what is said about them at their end. */
function lineRange(text: string, [start, end]: Range): Range {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = text.indexOf("\n", end);
  return [from, lineEnd === -1 ? text.length : lineEnd + 1];
}

/** An item with one comma, and its line where nothing else is on it. */
function itemRange(text: string, [start, end]: Range, holder: AST.TOMLArray | AST.TOMLInlineTable): Range {
  const after = commaAfter(text, end, holder.range[1] - 1);
  if (after === undefined) {
    const before = commaBefore(text, start, holder.range[0]);
    return before === undefined ? [start, end] : onOwnLine(text, before.own ? [before.at, end] : [start, end]);
  }
  const whole = onOwnLine(text, [start, after]);
  if (whole[0] !== start || whole[1] !== after) return whole;
  return [start, text[after] === " " && text[after + 1] !== "]" && text[after + 1] !== "}" ? after + 1 : after];
}

/** Behind the comma that follows; undefined where the holder ends, or a comment comes, first. */
function commaAfter(text: string, at: number, end: number): number | undefined {
  const gap = /^(?:\s|#[^\n]*\n)*,/.exec(text.slice(at, end))?.[0];
  return gap === undefined || gap.includes("#") ? undefined : at + gap.length;
}

/** The comma in front. `own`: nothing but white space lies between, so that it goes together with the item. */
function commaBefore(text: string, at: number, start: number): { at: number; own: boolean } | undefined {
  const before = text.slice(start + 1, at);
  const own = /,\s*$/.exec(before);
  return own ? { at: start + 1 + own.index, own: true } : before.trim() === "" ? undefined : { at, own: false };
}

function onOwnLine(text: string, [start, end]: Range): Range {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const rest = /^[ \t]*(?:#[^\n]*)?\r?\n/.exec(text.slice(end))?.[0];
  return from > 0 && text.slice(from, start).trim() === "" && rest !== undefined
    ? [from, end + rest.length]
    : [start, end];
}

// Lists that are written as tables: `[[boards]]`.

/** Where the text of an item ends that has a header of its own, tables below it included; undefined: it has none. Throws ParseError. */
export function lastItemEnd(text: string, item: Path): number | undefined {
  let end: number | undefined;
  for (const node of parseTree(text).body) {
    if (node.type !== "TOMLTable" || !item.every((name, index) => node.resolvedKey[index] === name)) continue;
    if (end === undefined && node.kind !== "array") return undefined;
    end = (node.body.at(-1) ?? node.key).range[1];
  }
  if (end === undefined) return undefined;
  // A comment at the end of the line stays there.
  const line = text.indexOf("\n", end);
  if (line === -1) return text.length;
  return text[line - 1] === "\r" ? line - 1 : line;
}
