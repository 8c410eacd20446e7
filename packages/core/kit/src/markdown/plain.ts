/** Markdown as plain text, and tables as columns of it. */
import type { Align, Inline, Table } from "./tree.ts";

/** What people read of it, without the formatting. */
export const plainOf = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if (inline.kind === "break") return "\n";
      return "text" in inline ? inline.text : plainOf(inline.children);
    })
    .join("");

// A table for platforms without tables: columns of monospaced characters.

/** To be shown in a fixed-width font; formatting has no place in it. */
export function columnsOf({ rows, align }: Table): string {
  const cells = rows.map((row) => row.map((cell) => plainOf(cell).replaceAll(/\s+/g, " ").trim()));
  const widths = align.map((_, column) => Math.max(1, ...cells.map((row) => widthOf(row[column] ?? ""))));
  const lines = cells.map((row) =>
    widths
      .map((width, column) => padded(row[column] ?? "", width, align[column]))
      .join(" | ")
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("-|-"));
  return lines.join("\n");
}

function padded(cell: string, width: number, align: Align): string {
  const room = Math.max(0, width - widthOf(cell));
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return " ".repeat(before) + cell + " ".repeat(room - before);
}

/** Wide characters take two places, and marks on others none. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    width += WIDE.test(segment) ? 2 : 1;
  }
  return width;
}

const WIDE = /[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]/u;
