/** Lines as they are put together from pieces: white space as a browser shows it, quotes with ">" in front. */

/** Deeper quotes are all the same to a reader. */
const MAX_QUOTES = 5;

export class TextLines {
  readonly #lines: string[] = [];
  /** Of the line that has begun. Pieces, as looking at the end of a long text that grows makes a copy of it each time. */
  #pieces: string[] = [];
  #endsBlank = true;
  #hasText = false;
  #quotes = 0;
  #preformatted = 0;
  #marks = 0;

  write(text: string): void {
    const visible = text.replaceAll(INVISIBLE, "");
    if (this.#preformatted > 0) {
      const [first = "", ...rest] = visible.split(/\r?\n/);
      this.#push(first);
      for (const line of rest) {
        this.end();
        this.#push(line);
      }
      return;
    }
    const words = visible.replaceAll(/\s+/g, " ");
    this.#push(this.#endsBlank ? words.trimStart() : words);
  }

  /** Where the line is now, for `since`. */
  get mark(): number {
    return this.#marks + this.#pieces.length;
  }

  /** What was written on this line since then. */
  since(mark: number): string {
    return this.#pieces.slice(Math.max(0, mark - this.#marks)).join("");
  }

  end(): void {
    const line = this.#pieces.join("").trimEnd();
    this.#lines.push(line === "" ? this.#prefix().trimEnd() : this.#prefix() + line);
    this.#drop();
  }

  endIfBegun(): void {
    if (this.#hasText) this.end();
    else this.#drop();
  }

  /** A blank line before what comes. */
  paragraph(): void {
    this.endIfBegun();
    const blank = this.#prefix().trimEnd();
    if (this.#lines.length > 0 && this.#lines.at(-1) !== blank) this.#lines.push(blank);
  }

  /** Deeper into a quote, or out of it. */
  quote(by: 1 | -1): void {
    this.#quotes = Math.max(0, this.#quotes + by);
  }

  /** In between, white space is kept. */
  preformatted(by: 1 | -1): void {
    this.#preformatted = Math.max(0, this.#preformatted + by);
  }

  text(): string {
    this.endIfBegun();
    return this.#lines
      .join("\n")
      .replaceAll(/\n{3,}/g, "\n\n")
      .trim();
  }

  #push(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    this.#endsBlank = piece.endsWith(" ");
    this.#hasText ||= piece.trim() !== "";
  }

  #drop(): void {
    // Marks of the line that ended must not be taken for places in the next one.
    this.#marks += this.#pieces.length;
    this.#pieces = [];
    this.#endsBlank = true;
    this.#hasText = false;
  }

  #prefix(): string {
    return "> ".repeat(Math.min(this.#quotes, MAX_QUOTES));
  }
}

/** What a person does not see: newsletters fill previews with it, and overrides make a text read otherwise than it is. */
const INVISIBLE = /[\u{34F}\u{AD}\u{200B}\u{202A}-\u{202E}\u{2060}\u{2066}-\u{2069}\u{FEFF}[\p{Cc}--[\n\r\t]]]/gv;
