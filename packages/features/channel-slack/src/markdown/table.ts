/** Tables, which the platform does not have: in columns of characters of one width. */
import { plainOf } from "./inline.ts";

/** A table of GFM that begins at this line; undefined where there is none. */
export function tableAt(lines: readonly string[], at: number): { text: string; lines: number } | undefined {
  const head = cellsOf(lines[at] ?? "");
  const divider = cellsOf(lines[at + 1] ?? "");
  const isTable = head !== undefined && divider?.length === head.length && divider.every((cell) => DIVIDER.test(cell));
  if (!isTable) return undefined;
  const rows = [head];
  let end = at + 2;
  for (let cells = cellsOf(lines[end] ?? ""); cells !== undefined; cells = cellsOf(lines[end] ?? "")) {
    rows.push(inColumns(cells, head.length));
    end += 1;
  }
  return { text: drawn(rows, divider.map(isRight)), lines: end - at };
}

/** What is more than the columns is in the last one. */
const inColumns = (cells: readonly string[], count: number): string[] => [
  ...Array.from({ length: count - 1 }, (_, column) => cells[column] ?? ""),
  cells.slice(count - 1).join(" | "),
];

const DIVIDER = /^:?-+:?$/;
const isRight = (divider: string): boolean => /^-+:$/.test(divider);

/** Undefined for a line without cells. */
function cellsOf(line: string): string[] | undefined {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  if (!line.includes("|") || inner.trim() === "") return undefined;
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll("\\|", "|").trim());
}

function drawn(rows: readonly (readonly string[])[], right: readonly boolean[]): string {
  const plain = rows.map((row) => row.map(plainOf));
  const widths = right.map((_, column) => Math.max(...plain.map((row) => widthOf(row[column] ?? ""))));
  const [head = "", ...body] = plain.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0, right[column] === true))
      .join(" | ")
      .trimEnd(),
  );
  return [head, widths.map((width) => "-".repeat(Math.max(1, width))).join("-|-"), ...body].join("\n");
}

function padded(cell: string, width: number, isRightBound: boolean): string {
  const space = " ".repeat(Math.max(0, width - widthOf(cell)));
  return isRightBound ? space + cell : cell + space;
}

/** Wide characters take two places. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    width +=
      /[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]/u.test(
        segment,
      )
        ? 2
        : 1;
  }
  return width;
}
