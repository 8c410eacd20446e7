/** A text that comes in pieces, as paragraphs: what stands between two blank lines, a code block with whatever is in it. */
export class Paragraphs {
  /** Whole lines of the paragraph that is not complete yet. */
  #lines: string[] = [];
  /** The line that is not. */
  #line = "";
  /** What opened the block that it ends in; blank outside of any. */
  #fence = "";

  /** `found`: told each that is complete now, in order. */
  push(text: string, found: (paragraph: string) => void): void {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      this.#endLine(this.#line + text.slice(from, at), found);
      this.#line = "";
      from = at + 1;
    }
    this.#line += from === 0 ? text : text.slice(from);
  }

  /** What is left, at the end of the text. Blank: nothing. */
  rest(): string {
    return [...this.#lines, this.#line].join("\n").trimEnd();
  }

  #endLine(line: string, found: (paragraph: string) => void): void {
    if (this.#fence === "" && line.trim() === "") {
      if (this.#lines.length > 0) found(this.#lines.join("\n").trimEnd());
      this.#lines = [];
      return;
    }
    this.#lines.push(line);
    const [, fence = "", info = ""] = FENCE.exec(line) ?? [];
    if (this.#fence === "") this.#fence = fence;
    else if (fence.startsWith(this.#fence) && info.trim() === "") this.#fence = "";
  }
}

/** A block ends with as many of the same as it began with, or more. Three backticks and three more in one line are no block. */
const FENCE = /^\s*(`{3,}(?=[^`]*$)|~{3,})(.*)$/s;
