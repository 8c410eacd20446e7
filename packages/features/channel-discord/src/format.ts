/**
 * Markdown as models write it, as the platform shows it: nearly the same.
 * https://support.discord.com/hc/en-us/articles/210298617
 */
import { trimEndOf } from "@svc/contract";
import { fenceLeftOpen } from "@svc/kit";

/** Counted in UTF-16 units, which is never less than what the platform counts. */
export const TEXT_CHARS = 2_000;

/** Never longer than a message may be, if `text` is not: what has no room for it stays as it was. */
export function formatted(text: string): string {
  const whole = text.toWellFormed();
  const shown = withOwnForms(whole);
  const closing = closingOf(shown);
  for (const form of [shown + closing, whole + closingOf(whole)]) if (form.length <= TEXT_CHARS) return form;
  return whole;
}

/** A block that is still open, in a draft or at a cut, would be shown as its marks. */
const closingOf = (text: string): string => (fenceLeftOpen(text) === "" ? "" : text.endsWith("\n") ? "```" : "\n```");

function withOwnForms(text: string): string {
  const shown: string[] = [];
  let fence: string | undefined;
  let table: string[] = [];
  const endTable = (): void => {
    if (table.length > 0) shown.push(tableBlock(table) ?? table.join("\n"));
    table = [];
  };
  for (const line of text.split("\n")) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (fence === undefined && mark === undefined && isTableLine(line)) {
      table.push(line);
      continue;
    }
    endTable();
    shown.push(fence === undefined && mark === undefined ? lineOf(line) : line);
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence;
  }
  endTable();
  return shown.join("\n");
}

/** Headings of the fourth rank and below, and pictures by a link, are none there. */
const lineOf = (line: string): string =>
  // Neither part may hold what the next one begins with: then each character is looked at once.
  headingOf(line).replaceAll(/!\[([^[\]\n]*)\]\((https?:\/\/[^\s()]+)\)/g, (_, words: string, url: string) =>
    words === "" ? url : `[${words}](${url})`,
  );

/** Without the marks that may close it. */
function headingOf(line: string): string {
  const [marks] = /^#{4,6}\s+(?=\S)/.exec(line) ?? [];
  if (marks === undefined) return line;
  const [first = "", rest = ""] = [line.charAt(marks.length), line.slice(marks.length + 1)];
  const words = `${first}${trimEndOf(rest, "#").trimEnd()}`;
  return words.includes("**") ? words : `**${words}**`;
}

// Tables of Markdown, which the platform shows as bars and dashes: as a block of code their columns stand in line.

/** Lines of a table and nothing else; undefined: they are none. */
function tableBlock(lines: readonly string[]): string | undefined {
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

const isTableLine = (line: string): boolean => /^\s{0,3}\|.*\|\s*$/.test(line);

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
