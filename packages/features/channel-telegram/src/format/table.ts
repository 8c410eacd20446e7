/** Tables, which the platform does not have: columns of equal width in a block of code. */
import { inlineNodes } from "./inline.ts";
import { textOf } from "./node.ts";

/** Whether a table begins at this line: a row, and below it the dashes. */
export const isTableAt = (lines: readonly string[], at: number): boolean =>
  isRow(lines[at]) && RULE.test(lines[at + 1] ?? "");

const RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$|^\s*\|\s*:?-+:?\s*\|\s*$/;

export const isRow = (line: string | undefined): boolean =>
  line !== undefined && line.trim() !== "" && line.includes("|");

/** Of its lines, the one with the dashes among them. */
export function tableText(lines: readonly string[]): string {
  const rows = lines.filter((_, index) => index !== 1).map(cellsOf);
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? "")), 1),
  );
  const [head, ...body] = rows.map((row) => lineOf(row, widths));
  return [head, widths.map((width) => "-".repeat(width)).join("-|-"), ...body].join("\n");
}

const lineOf = (row: readonly string[], widths: readonly number[]): string =>
  widths
    .map((width, column) => (row[column] ?? "") + " ".repeat(width - widthOf(row[column] ?? "")))
    .join(" | ")
    .trimEnd();

/** Within a block of code nothing is bold: the marks go. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => textOf(inlineNodes(cell.replaceAll(String.raw`\|`, "|").trim())));
}

/** As a fixed-width font shows it: wide characters take two places, and marks on others none. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    width +=
      /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]/u.test(
        segment,
      )
        ? 2
        : 1;
  }
  return width;
}
