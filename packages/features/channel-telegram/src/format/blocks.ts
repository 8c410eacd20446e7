/**
 * Paragraphs, headings, lists, quotes, code and tables, line by line. A block that is not closed goes on to the end of the
 * text: a draft ends wherever the model is just now.
 */
import { inlineNodes } from "./inline.ts";
import type { Node } from "./node.ts";
import { isRow, isTableAt, tableText } from "./table.ts";

export function blockNodes(lines: readonly string[], isQuoted = false): Node[] {
  const blocks: Node[][] = [];
  for (let at = 0; at < lines.length;) {
    const read = READERS.find(({ begins }) => begins(lines, at)) ?? PARAGRAPH;
    const { nodes, end } = read.take(lines, at, isQuoted);
    blocks.push(nodes);
    at = end;
  }
  return blocks.flatMap((block, index) => (index === 0 ? block : ["\n", ...block]));
}

interface Block {
  readonly nodes: Node[];
  /** The line behind it. */
  readonly end: number;
}

interface Reader {
  readonly begins: (lines: readonly string[], at: number) => boolean;
  readonly take: (lines: readonly string[], at: number, isQuoted: boolean) => Block;
}

const FENCE = /^(\s*)(`{3,}|~{3,})[ \t]*([^`~\n]*)$/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}>[ \t]?/;
const ITEM = /^(\s*)[-*+][ \t]+(?:(\[[ xX]\])[ \t]+)?(.*)$/;

const READERS: readonly Reader[] = [
  { begins: (lines, at) => FENCE.test(lines[at] as string), take: codeBlock },
  { begins: isTableAt, take: table },
  { begins: (lines, at) => HEADING.test(lines[at] as string), take: heading },
  { begins: (lines, at) => RULE.test(lines[at] as string), take: (_, at) => ({ nodes: ["———"], end: at + 1 }) },
  { begins: (lines, at) => QUOTE.test(lines[at] as string), take: quote },
  { begins: (lines, at) => ITEM.test(lines[at] as string), take: item },
];

const PARAGRAPH: Reader = {
  begins: () => true,
  take(lines, at) {
    let end = at + 1;
    const goesOn = (): boolean =>
      (lines[end] ?? "").trim() !== "" &&
      (lines[end - 1] as string).trim() !== "" &&
      !READERS.some(({ begins }) => begins(lines, end));
    while (end < lines.length && goesOn()) end += 1;
    return { nodes: inlineNodes(lines.slice(at, end).join("\n")), end };
  },
};

function codeBlock(lines: readonly string[], at: number): Block {
  const [, indent = "", fence = "", info = ""] = FENCE.exec(lines[at] as string) as RegExpExecArray;
  const closing = new RegExp(`^\\s*${fence[0]}{${fence.length},}\\s*$`);
  const close = lines.findIndex((line, index) => index > at && closing.test(line));
  const end = close === -1 ? lines.length : close;
  const text = lines
    .slice(at + 1, end)
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()))
    .join("\n");
  const language = /^[\w+#.-]{1,32}/.exec(info.trim())?.[0];
  // Of an empty one people would see nothing, not even an empty line.
  return { nodes: text.trim() === "" ? [] : [{ kind: "pre", text, language }], end: close === -1 ? end : end + 1 };
}

function table(lines: readonly string[], at: number): Block {
  let end = at + 2;
  while (isRow(lines[end])) end += 1;
  return { nodes: [{ kind: "pre", text: tableText(lines.slice(at, end)), language: undefined }], end };
}

function heading(lines: readonly string[], at: number): Block {
  const text = HEADING.exec(lines[at] as string)?.[1] ?? "";
  return { nodes: text === "" ? [] : [{ kind: "bold", children: inlineNodes(text) }], end: at + 1 };
}

/** The platform has no quote within a quote: what is quoted twice is quoted once. */
function quote(lines: readonly string[], at: number, isQuoted: boolean): Block {
  let end = at;
  while (QUOTE.test(lines[end] ?? "")) end += 1;
  const inner = blockNodes(
    lines.slice(at, end).map((line) => line.replace(QUOTE, "")),
    true,
  );
  return { nodes: isQuoted || inner.length === 0 ? inner : [{ kind: "quote", children: inner }], end };
}

function item(lines: readonly string[], at: number): Block {
  const [, indent = "", task, text = ""] = ITEM.exec(lines[at] as string) as RegExpExecArray;
  const mark = task === undefined ? "•" : task === "[ ]" ? "☐" : "☑";
  return { nodes: [`${indent}${mark} `, ...inlineNodes(text)], end: at + 1 };
}
