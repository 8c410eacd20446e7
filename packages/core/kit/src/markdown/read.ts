/** Markdown as a tree: the dialect that chat messages are written in, read with bounded work. */
import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens, type TokensList } from "marked";
import type { Block, Code, Inline, Item, Table } from "./tree.ts";
import { decodeHTMLStrict } from "entities";

/** Never fails: invalid or unfinished Markdown stays plain text. */
export function readMarkdown(markdown: string): Block[] {
  const text = markdown.replaceAll(/\r\n?/g, "\n");
  const read = text.slice(0, MAX_CHARS);
  const rest = text.slice(MAX_CHARS);
  const blocks = lexed(read);
  return rest === "" ? blocks : [...blocks, { ...literal(rest), gap: blocks.length === 0 ? 0 : 1 }];
}

/** Longer than a message of any platform; the rest of a longer text stays plain. */
const MAX_CHARS = 32_000;

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

// What the library found within a line or a paragraph, as inlines.

/** `isItem`: white space at the beginning of a line is only there to be below the item's mark. */
const inlinesOf = (tokens: readonly Token[], isItem = false): Inline[] =>
  joined((tokens as readonly MarkedToken[]).flatMap((token) => inlineOf(token, isItem)));

function inlineOf(token: MarkedToken, isItem: boolean): Inline[] {
  switch (token.type) {
    case "strong":
      return [{ kind: "bold", children: inlinesOf(token.tokens, isItem) }];
    case "em":
      return [{ kind: "italic", children: inlinesOf(token.tokens, isItem) }];
    case "del":
      return [{ kind: "strike", children: inlinesOf(token.tokens, isItem) }];
    case "link":
    case "image":
      return linkOf(token);
    case "codespan":
      return [{ kind: "code", text: token.text }];
    case "br":
      return [{ kind: "break" }];
    case "checkbox":
      return [];
    case "escape":
      return linesOf(token.text, isItem);
    case "text":
      return token.tokens ? inlinesOf(token.tokens, isItem) : linesOf(decodeHTMLStrict(token.text), isItem);
    default:
      return linesOf(token.raw, isItem);
  }
}

const linesOf = (text: string, isItem: boolean): Inline[] =>
  (isItem ? text.replaceAll(/\n[ \t]+/g, "\n") : text)
    .split("\n")
    .flatMap((line, index): Inline[] => [
      ...(index === 0 ? [] : [{ kind: "break" } as const]),
      ...(line === "" ? [] : [{ kind: "text", text: line } as const]),
    ]);

function linkOf(token: Tokens.Link | Tokens.Image): Inline[] {
  const isBare = token.type === "link" && token.autolink === true;
  // In an address that stands in the text, an entity is a part of it.
  const target = isBare ? token.href : decodeHTMLStrict(token.href);
  const url = urlOf(target);
  // `<stdio.h:12>` is no address.
  if (isBare && url === undefined) return linesOf(token.raw, false);
  const form = isBare ? "bare" : token.type === "image" ? "image" : "labelled";
  const children = isBare ? linesOf(token.text, false) : inlinesOf(token.tokens);
  return [{ kind: "link", form, url, target, children }];
}

/** Neighbours that are text are one text. */
function joined(inlines: readonly Inline[]): Inline[] {
  const all: Inline[] = [];
  for (const inline of inlines) {
    const last = all.at(-1);
    if (inline.kind === "text" && last?.kind === "text") {
      all[all.length - 1] = { kind: "text", text: last.text + inline.text };
    } else all.push(inline);
  }
  return all;
}

/** Where links of a text may lead. */
const MAX_URL_CHARS = 2_000;

/** As it can be written anywhere: without white space and angle brackets. Undefined for what leads nowhere, or may not. */
function urlOf(target: string): string | undefined {
  if (target.length > MAX_URL_CHARS || !/^(?:https?:\/\/[^\s/]|mailto:\S|tel:\S)/i.test(target)) return undefined;
  if (!URL.canParse(target)) return undefined;
  return target.replaceAll(/[\s<>\p{Cc}]/gu, encodeURIComponent);
}

// The dialect.

/**
 * GitHub's Markdown (https://github.github.com/gfm/) without the rules that misread chat messages: HTML, code by four spaces, emphasis in a
 * product (`2*3*4`) or a name (`snake_case`) stay text.
 */
class ChatTokenizer extends Tokenizer {
  /** Four spaces are no code. */
  override code(): undefined {}

  override html(): undefined {}
  override tag(): undefined {}

  /** Dashes below a text are a rule; and a draft that ends in one has no heading. */
  override lheading(): undefined {}

  /** One without words is not finished yet. */
  override heading(src: string): Tokens.Heading | undefined {
    return /^ {0,3}#{1,6}[ \t]*(?:#+[ \t]*)?(?:\n|$)/.test(src) ? undefined : super.heading(src);
  }

  /** What has no `>` before it is not quoted. */
  override blockquote(src: string): Tokens.Blockquote | undefined {
    const quoted = /^(?: {0,3}>[^\n]*(?:\n|$))+/.exec(src)?.[0];
    return quoted === undefined ? undefined : super.blockquote(quoted);
  }

  /** The second of a name would be lost. */
  override def(src: string): Tokens.Def | undefined {
    const definition = super.def(src);
    return definition && Object.hasOwn(this.lexer.tokens.links, definition.tag) ? undefined : definition;
  }

  /** Cells for which there is no column in the head get one: they would be lost. */
  override table(src: string): Tokens.Table | undefined {
    const [head = "", delimiters = "", ...rows] = rowsOf(src, (begin) => super.table(begin) !== undefined);
    if (delimiters === "") return undefined;
    // A row may do without its outer two, and the head have both.
    const more = Math.max(0, ...rows.map((row) => pipesOf(row) - pipesOf(head) + 2));
    const wide = [closed(head) + " |".repeat(more), closed(delimiters) + "-|".repeat(more), ...rows];
    const table = super.table(wide.join("\n"));
    const raw = [head, delimiters, ...rows].slice(0, table?.raw.split("\n").length).join("\n");
    return table && { ...table, raw };
  }

  override emStrong(src: string, masked: string, before: string): Tokens.Em | Tokens.Strong | undefined {
    const previous = masked.length > src.length ? masked.at(-src.length - 1) : "";
    // Of marks that opened nothing, the last one opens nothing either.
    if (src[0] === "_" ? previous === "_" : before === "*" && src[0] === "*") return undefined;
    if (src[1] !== src[0] && /[A-Za-z0-9)]/.test(previous ?? "")) return undefined;
    const found = super.emStrong(src, masked, before);
    return found && isName(found, src.slice(found.raw.length, found.raw.length + 2)) ? undefined : found;
  }

  /** One tilde is "about". */
  override del(src: string, masked: string, before: string): Tokens.Del | undefined {
    return src.startsWith("~~") ? super.del(src, masked, before) : undefined;
  }
}

/** `2*3*4` is a product, and `__init__.py` is a name. */
const isName = ({ type, raw }: Tokens.Em | Tokens.Strong, behind: string): boolean =>
  raw.startsWith("_") ? /^\.?[A-Za-z0-9]/.test(behind) : type === "em" && /^[A-Za-z0-9]/.test(behind);

const DELIMITER_ROW = " {0,3}\\|?(?: *:?-+:? *\\|)+(?: *:?-+:? *)?";
const DELIMITERS = new RegExp(`^${DELIMITER_ROW}$`);
/** Source of an expression: the head of a table and the row below it. */
const TABLE_START = `[^\\n|]*\\|[^\\n]*\\n${DELIMITER_ROW}(?:\\n|$)`;

/** No reader needs more; each row is filled up to this number of cells. */
const MAX_COLUMNS = 40;
const MAX_ROWS = 400;

/** The lines with a `|` with which it begins; a line without one is the end of a table. None where the first two make no head. */
function rowsOf(src: string, isHead: (begin: string) => boolean): string[] {
  const rows: string[] = [];
  for (let at = 0; at < src.length && rows.length < MAX_ROWS;) {
    const newline = src.indexOf("\n", at);
    const end = newline === -1 ? src.length : newline;
    const line = src.slice(at, end);
    if (!line.includes("|") || pipesOf(line) > MAX_COLUMNS) break;
    if (rows.length === 1 && !(DELIMITERS.test(line) && isHead(src.slice(0, end)))) return [];
    rows.push(line);
    at = end + 1;
  }
  return rows;
}

const pipesOf = (line: string): number => line.split("|").length - 1;
const closed = (line: string): string => (/(?<!\\)\| *$/.test(line) ? line.trimEnd() : `${line.trimEnd()} |`);

// Bounds the work of parsing: the library's expressions scan from each mark to the end of the text, and again for each nested mark. Text
// that would take longer, or is nested deeper than real messages are, stays plain text.

/** Where the library looks whether a table ends the paragraph, it reads the table to its end: at each line again. */
const PARAGRAPH = new RegExp(Lexer.rules.block.normal.paragraph.source.replace("(?!", `(?!${TABLE_START}|`));

const MAX_DEPTH = 12;
/** Upper bound of scanned characters: enough for a paragraph of 4 000 marks. */
export const MAX_EFFORT = 20_000_000;

export class BoundedLexer extends Lexer {
  #depth = 0;
  #effort = 0;

  constructor() {
    const tokenizer = new ChatTokenizer();
    super({ gfm: true, tokenizer });
    tokenizer.rules = { ...tokenizer.rules, block: { ...tokenizer.rules.block, paragraph: PARAGRAPH } };
  }

  /** The part of {@link MAX_EFFORT} used so far. */
  get effort(): number {
    return this.#effort;
  }

  override blockTokens(src: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], isClipped?: boolean): Token[] {
    return this.#within(src.length * 8, src, tokens, () => super.blockTokens(src, tokens, isClipped));
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const marks = src.match(/[\\<![`*_~@]/g)?.length ?? 0;
    return this.#within(src.length * (marks + 1), src, tokens, () => super.inlineTokens(src, tokens));
  }

  #within(effort: number, src: string, tokens: Token[], read: () => Token[]): Token[] {
    if (this.#depth >= MAX_DEPTH || this.#effort + effort > MAX_EFFORT) {
      tokens.push({ type: "text", raw: src, text: src });
      return tokens;
    }
    this.#effort += effort;
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}
