/**
 * GitHub's Markdown (https://github.github.com/gfm/) without the rules that misread chat messages: HTML, code by four spaces,
 * emphasis in a product (`2*3*4`) or a name (`snake_case`) stay text.
 */
import { Tokenizer, type Tokens } from "marked";

export class ChatTokenizer extends Tokenizer {
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
export const TABLE_START = `[^\\n|]*\\|[^\\n]*\\n${DELIMITER_ROW}(?:\\n|$)`;

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
