/**
 * GitHub's Markdown (https://github.github.com/gfm/) as people mean it who write into a chat. What it makes of the text of a
 * page, and nobody means there, is text: HTML, four spaces, a product, a name of a program.
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
    const heading = super.heading(src);
    return heading?.text === "" ? undefined : heading;
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

  /** A row has a `|`; and cells for which there is no column in the head get one: they would be lost. */
  override table(src: string): Tokens.Table | undefined {
    const lines = /^(?:[^\n]*\|[^\n]*(?:\n|$)){2,}/.exec(src)?.[0].replace(/\n$/, "").split("\n");
    const [head = "", delimiters = "", ...rows] = lines ?? [];
    if (!DELIMITERS.test(delimiters)) return undefined;
    const [own, most] = [pipesOf(head), Math.max(0, ...rows.map(pipesOf))];
    if (Math.max(own, most) * (rows.length + 2) > MAX_CELLS) return undefined;
    const more = Math.max(0, most - own + 1);
    const wide = [closed(head) + " |".repeat(more), closed(delimiters) + "-|".repeat(more), ...rows];
    const table = super.table(wide.join("\n"));
    if (table === undefined) return undefined;
    const count = table.raw.split("\n").length;
    return { ...table, raw: [head, delimiters, ...rows].slice(0, count).join("\n") };
  }

  override emStrong(src: string, masked: string, before: string): Tokens.Em | Tokens.Strong | undefined {
    const previous = masked.at(-src.length - 1) ?? "";
    const isSingle = src[1] !== src[0];
    if (isSingle && /[A-Za-z0-9)]/.test(masked.length > src.length ? previous : "")) return undefined;
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

const DELIMITERS = /^ {0,3}\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$/;
const MAX_CELLS = 4_000;

const pipesOf = (line: string): number => line.split("|").length - 1;
const closed = (line: string): string => (/(?<!\\)\| *$/.test(line) ? line.trimEnd() : `${line.trimEnd()} |`);
