/**
 * Markdown as models write it: paragraphs, headings, lists, quotes, fenced code, tables, rules. A subset of CommonMark and GFM
 * in which white space stays what it is: what four spaces indent is no code, and two lines are not joined to one.
 */
import { runsOf } from "./inline.ts";
import { tableAt } from "./table.ts";
import { type Block, MOST_GAP } from "./types.ts";

/** Never fails: an answer that is not finished yet is read as if it ended there. */
export const blocksOf = (markdown: string): Block[] => readBlocks(markdown.replaceAll(/\r\n?/g, "\n").split("\n"), 0);

/** Quotes in quotes in quotes: deeper than that nobody looks. */
const MOST_DEPTH = 8;

function readBlocks(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let gap = 0;
  for (let at = 0; at < lines.length;) {
    if (lines[at]?.trim() === "") {
      gap += 1;
      at += 1;
      continue;
    }
    const { block, lines: count } = blockAt(lines, at, depth);
    blocks.push({ ...block, gap: blocks.length === 0 ? 0 : Math.min(gap + 1, MOST_GAP) });
    gap = 0;
    at += count;
  }
  return blocks;
}

type Ungapped<B> = B extends Block ? Omit<B, "gap"> : never;
interface Read {
  readonly block: Ungapped<Block>;
  /** How many lines it takes. */
  readonly lines: number;
}

function blockAt(lines: readonly string[], at: number, depth: number): Read {
  const line = lines[at] as string;
  return (
    fenceAt(lines, at) ??
    (RULE.test(line) ? { block: { kind: "rule" }, lines: 1 } : undefined) ??
    headingOf(line) ??
    (depth < MOST_DEPTH ? quoteAt(lines, at, depth) : undefined) ??
    tableBlock(lines, at) ??
    textAt(lines, at)
  );
}

const RULE = /^ {0,3}(?:(?:-[^\S\n]*){3,}|(?:\*[^\S\n]*){3,}|(?:_[^\S\n]*){3,})$/;
const FENCE = /^(\s*)(`{3,}|~{3,})[^\S\n]*([^`\n]*)$/;

const LANGUAGE = /^[\w+#.-]{0,20}$/;

function fenceAt(lines: readonly string[], at: number): Read | undefined {
  const [, indent = "", fence, info = ""] = FENCE.exec(lines[at] as string) ?? [];
  if (fence === undefined) return undefined;
  const closing = new RegExp(`^\\s*${fence[0]}{${fence.length},}\\s*$`);
  const found = lines.findIndex((line, index) => index > at && closing.test(line));
  const end = found === -1 ? lines.length : found;
  const inside = lines.slice(at + 1, end).map((line) => withoutIndent(line, indent.length));
  // The name of a language is for colours, which there are none of; anything else is somebody's words.
  const text = (LANGUAGE.test(info.trim()) ? inside : [info, ...inside]).join("\n");
  return { block: { kind: "code", text }, lines: end - at + (found === -1 ? 0 : 1) };
}

const withoutIndent = (line: string, most: number): string =>
  line.slice(Math.min(most, line.length - line.trimStart().length));

function headingOf(line: string): Read | undefined {
  const [, text] = /^ {0,3}#{1,6}[^\S\n]+(.*?)(?:[^\S\n]+#+)?[^\S\n]*$/.exec(line) ?? [];
  if (text === undefined || text === "") return undefined;
  const runs = runsOf(text).map((run) => ({ ...run, bold: true as const }));
  return { block: { kind: "text", prefix: "", runs }, lines: 1 };
}

function quoteAt(lines: readonly string[], at: number, depth: number): Read | undefined {
  const quoted: string[] = [];
  for (let line = lines[at]; line !== undefined && QUOTE.test(line); line = lines[at + quoted.length]) {
    quoted.push(line.replace(QUOTE, ""));
  }
  if (quoted.length === 0) return undefined;
  return { block: { kind: "quote", blocks: readBlocks(quoted, depth + 1) }, lines: quoted.length };
}

const QUOTE = /^ {0,3}>[^\S\n]?/;

function tableBlock(lines: readonly string[], at: number): Read | undefined {
  const table = tableAt(lines, at);
  return table && { block: { kind: "code", text: table.text }, lines: table.lines };
}

const ITEM = /^(\s*)(?:([-*+])|(\d{1,9}[.)]))[^\S\n]+(?=\S)/;

/** A paragraph, or an item of a list with the lines that go on below it. */
function textAt(lines: readonly string[], at: number): Read {
  const item = ITEM.exec(lines[at] as string);
  const [mark = "", indent = "", , number] = item ?? [];
  const said = [(lines[at] as string).slice(mark.length)];
  for (let index = at + 1; index < lines.length && goesOn(lines, index); index += 1) {
    said.push(item === null ? (lines[index] as string) : (lines[index] as string).trimStart());
  }
  const level = item === null ? "" : " ".repeat(Math.min(MOST_DEPTH, Math.ceil(columns(indent) / 2)) * 4);
  const prefix = item === null ? "" : `${level}${number ?? "•"} `;
  const text = said.join(item === null ? "\n" : `\n${level}   `);
  return { block: { kind: "text", prefix, runs: runsOf(text) }, lines: said.length };
}

const columns = (indent: string): number => indent.replaceAll("\t", "    ").length;

/** Whether the line belongs to the paragraph above it. */
function goesOn(lines: readonly string[], at: number): boolean {
  const line = lines[at] as string;
  const isOther = line.trim() === "" || RULE.test(line) || FENCE.test(line) || QUOTE.test(line) || ITEM.test(line);
  return !isOther && headingOf(line) === undefined && tableAt(lines, at) === undefined;
}
