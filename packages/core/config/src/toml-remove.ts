/** Which ranges of a config's text go when a key, a table or an item of a list is removed. Comments on lines of their own stay. */
import type { AST } from "toml-eslint-parser";
import type { Path } from "./table.ts";
import { nameOf, parseTree } from "./toml-places.ts";

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
