/** Lists that are written as tables: `[[boards]]`. */
import type { Path } from "./table.ts";
import { parseTree } from "./toml-places.ts";

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
