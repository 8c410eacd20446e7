/** Markdown as a tree. */
import type { MarkedToken, Token, Tokens } from "marked";
import { BoundedLexer } from "./bounded-lexer.ts";
import { inlinesOf } from "./inlines.ts";
import type { Block, Code, Item, Table } from "./tree.ts";

/** Longer than a message of any platform; the rest of a longer text stays plain. */
const MAX_CHARS = 32_000;

/** Never fails: invalid or unfinished Markdown stays plain text. */
export function readMarkdown(markdown: string): Block[] {
  const text = markdown.replaceAll(/\r\n?/g, "\n");
  const read = text.slice(0, MAX_CHARS);
  const rest = text.slice(MAX_CHARS);
  const blocks = lexed(read);
  return rest === "" ? blocks : [...blocks, { ...literal(rest), gap: blocks.length === 0 ? 0 : 1 }];
}

/** The library throws on its own bugs; an answer must not be lost over them. */
function lexed(text: string): Block[] {
  try {
    return blocksOf(new BoundedLexer().lex(text), false);
  } catch {
    return [{ ...literal(text), gap: 0 }];
  }
}

const literal = (text: string) =>
  ({ kind: "paragraph", inlines: inlinesOf([{ type: "escape", raw: text, text }]) }) as const;

/** `isItem`: how far lines of an item are indented is said by the item. */
function blocksOf(tokens: readonly Token[], isItem: boolean): Block[] {
  const blocks: Block[] = [];
  let newlines = 0;
  for (const token of tokens as readonly MarkedToken[]) {
    const block = blockOf(token, isItem);
    if (block !== undefined) {
      blocks.push({ ...block, gap: blocks.length === 0 ? 0 : Math.max(1, newlines) });
      newlines = 0;
    }
    newlines += newlinesAtEnd(token.raw);
  }
  return blocks;
}

const newlinesAtEnd = (raw: string): number => raw.slice(raw.trimEnd().length).split("\n").length - 1;

type Ungapped<B> = B extends Block ? Omit<B, "gap"> : never;

function blockOf(token: MarkedToken, isItem: boolean): Ungapped<Block> | undefined {
  switch (token.type) {
    case "space":
    case "checkbox":
      return undefined;
    case "heading":
      return { kind: "heading", level: token.depth, inlines: inlinesOf(token.tokens) };
    case "hr":
      return { kind: "rule" };
    case "blockquote":
      return { kind: "quote", blocks: blocksOf(token.tokens, false) };
    case "code":
      return codeOf(token);
    case "table":
      return tableOf(token);
    case "list":
      return { kind: "list", items: itemsOf(token) };
    case "def":
      return { kind: "definition", text: token.raw.trim() };
    default: {
      const inlines = inlinesOf("tokens" in token && token.tokens ? token.tokens : [token], isItem);
      return inlines.length === 0 ? undefined : { kind: "paragraph", inlines };
    }
  }
}

/** The line break before the closing fence is the fence's. */
const codeOf = ({ text, lang }: Tokens.Code): Code => ({
  kind: "code",
  text: text.endsWith("\n") ? text.slice(0, -1) : text,
  info: lang ?? "",
});

function itemsOf({ items }: Tokens.List): Item[] {
  return items.map((item, index) => ({
    gap: index === 0 ? 0 : Math.max(1, newlinesAtEnd(items[index - 1]!.raw)),
    number: /^\s*(\d+[.)])/.exec(item.raw)?.[1],
    task: item.task ? (item.checked === true ? "done" : "open") : undefined,
    blocks: blocksOf(item.tokens, true),
  }));
}

/** Columns at the end in which there is nothing are none. */
function tableOf({ header, rows, align }: Tokens.Table): Table {
  const cells = [header, ...rows].map((row) => row.map(({ tokens }) => inlinesOf(tokens)));
  const count = Math.max(1, ...cells.map((row) => row.findLastIndex((cell) => cell.length > 0) + 1));
  return {
    kind: "table",
    rows: cells.map((row) => row.slice(0, count)),
    align: align.slice(0, count).map((side) => side ?? undefined),
  };
}
