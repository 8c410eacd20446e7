/**
 * Bounds the work of parsing: the library's expressions scan from each mark to the end of the text, and again for each nested
 * mark. Text that would take longer, or is nested deeper than real messages are, stays plain text.
 */
import { Lexer, type Token, type TokensList } from "marked";
import { ChatTokenizer, TABLE_START } from "./dialect.ts";

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
