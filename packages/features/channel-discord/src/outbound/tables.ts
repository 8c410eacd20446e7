/** Tables of Markdown, which the platform shows as bars and dashes: as a block of code their columns stand in line. */

/** Lines of a table and nothing else; undefined: they are none. */
export function tableBlock(lines: readonly string[]): string | undefined {
  const rows = lines.map(cellsOf);
  const [head, rule] = rows;
  if (head === undefined || rule === undefined || rows.length < 3) return undefined;
  if (!isRule(rule) || rule.length !== head.length || head.length < 2) return undefined;
  const body = [head, ...rows.slice(2)].map((row) => head.map((_, at) => plain(row[at] ?? "")));
  // A fence within it would end the block.
  if (body.some((row) => row.some((cell) => cell.includes("```")))) return undefined;
  const widths = head.map((_, at) => Math.max(...body.map((row) => widthOf(row[at]!))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => padded(cell, widths[at]!))
      .join("  ")
      .trimEnd();
  const ruled = widths.map((width) => "-".repeat(width)).join("  ");
  return ["```", line(body[0]!), ruled, ...body.slice(1).map(line), "```"].join("\n");
}

export const isTableLine = (line: string): boolean => /^\s{0,3}\|.*\|\s*$/.test(line);

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

const isRule = (cells: readonly string[]): boolean => cells.every((cell) => /^:?-+:?$/.test(cell));

/** In a block of code no marks are read. */
const plain = (cell: string): string =>
  cell.replaceAll(/\*\*([^*]+)\*\*|__([^_]+)__|`([^`]+)`/g, (_, bold, strong, code) => String(bold ?? strong ?? code));

/** Columns that it takes: characters of the far east and emojis two. */
const widthOf = (cell: string): number =>
  [...SEGMENTS.segment(cell)].reduce((width, { segment }) => width + (WIDE.test(segment) ? 2 : 1), 0);

const SEGMENTS = new Intl.Segmenter("en", { granularity: "grapheme" });
const WIDE =
  /\p{Extended_Pictographic}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]/u;

const padded = (cell: string, width: number): string => cell + " ".repeat(width - widthOf(cell));
