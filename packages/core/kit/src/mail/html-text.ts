/** The text of an HTML mail as a person reads it: paragraphs, lists, links, quotes. */
import { decodeHTML } from "entities";

/** No person writes a longer mail. */
const MAX_CHARS = 500_000;

export function htmlToText(html: string): string {
  const lines = new TextLines();
  let link: Link | undefined;
  for (const token of htmlTokens(html.slice(0, MAX_CHARS))) {
    if (token.kind === "text") lines.write(decodeHTML(token.text));
    else if (token.name === "a") link = anchor(lines, link, token);
    else element(lines, token);
  }
  return lines.text();
}

type Tag = Extract<HtmlToken, { kind: "open" | "close" }>;

const LINE = new Set("address article aside dd div dl dt footer form header li main nav section tr".split(" "));
const BLOCK = new Set("h1 h2 h3 h4 h5 h6 hr ol p pre table ul".split(" "));

function element(lines: TextLines, { kind, name, attributes }: Tag): void {
  const isOpen = kind === "open";
  if (name === "blockquote") return quote(lines, isOpen);
  if (name === "br") lines.end();
  else if (LINE.has(name)) lines.endIfBegun();
  else if (BLOCK.has(name)) lines.paragraph();
  else if (name === "td" || name === "th") lines.write(" ");
  else if (name === "img" && isOpen) image(lines, attributes);
  if (name === "li" && isOpen) lines.write("- ");
  if (name === "hr" && isOpen) lines.write("---");
  if (name === "pre") lines.preformatted(isOpen ? 1 : -1);
}

/** The blank lines around a quote are outside it. */
function quote(lines: TextLines, isOpen: boolean): void {
  lines.endIfBegun();
  if (!isOpen) lines.quote(-1);
  lines.paragraph();
  if (isOpen) lines.quote(1);
}

interface Link {
  readonly href: string;
  /** Where its text begins. */
  readonly mark: number;
}

/** Appends the link's address, unless it equals the link's text. */
function anchor(lines: TextLines, open: Link | undefined, { kind, attributes }: Tag): Link | undefined {
  if (kind === "close" && open !== undefined) {
    const said = lines.since(open.mark).trim();
    if (said !== "" && said !== open.href) lines.write(` <${open.href}>`);
  }
  const href = kind === "open" ? valueOf(attributes, HREF) : "";
  return /^https?:\/\//i.test(href) ? { href, mark: lines.mark } : undefined;
}

/** Pictures that say nothing only count who opens the mail. */
function image(lines: TextLines, attributes: string): void {
  const says = valueOf(attributes, ALT).replaceAll(/\s+/g, " ").trim();
  if (says !== "") lines.write(`[${says}]`);
}

const HREF = /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
const ALT = /(?:^|\s)alt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
const MAX_VALUE_CHARS = 2000;

function valueOf(attributes: string, name: RegExp): string {
  const match = name.exec(attributes.slice(0, MAX_VALUE_CHARS));
  return decodeHTML(match?.[1] ?? match?.[2] ?? match?.[3] ?? "").trim();
}

// Lines as they are put together from pieces: white space as a browser shows it, quotes with ">" in front.

/** Deeper quotes are all the same to a reader. */
const MAX_QUOTES = 5;

class TextLines {
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

/**
 * HTML as a sequence of texts and tags. It visits each character a bounded number of times: parsers that build a tree take
 * minutes for a megabyte of nested tags, and strangers write mail.
 */
type HtmlToken =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open" | "close"; readonly name: string; readonly attributes: string };

/** The content of these elements is not text of the page. */
const RAW = new Set([
  "script",
  "style",
  "title",
  "template",
  "noscript",
  "svg",
  "math",
  "object",
  "textarea",
  "select",
]);

function* htmlTokens(html: string): Generator<HtmlToken> {
  let at = 0;
  while (at < html.length) {
    const open = nextMarkup(html, at);
    if (open > at) yield { kind: "text", text: html.slice(at, open) };
    if (open === html.length) return;
    const end = endOf(html, open);
    // An unclosed tag is text, and so is everything after it.
    if (end === undefined) return yield { kind: "text", text: html.slice(open) };
    at = end;
    const markup = html.slice(open, end - 1);
    const tag = TAG.exec(markup);
    if (tag === null) continue;
    const name = (tag[2] as string).toLowerCase();
    const kind = tag[1] === "/" ? "close" : "open";
    yield { kind, name, attributes: markup.slice(tag[0].length) };
    if (kind === "open" && RAW.has(name)) at = closingOf(html, name, end);
  }
}

const TAG = /^<(\/?)([a-z][a-z0-9:-]*)/i;

/** Where the next tag, comment or declaration begins; the end without one. A lone "<" is text. */
function nextMarkup(html: string, from: number): number {
  for (let at = html.indexOf("<", from); at >= 0; at = html.indexOf("<", at + 1)) {
    if (/[a-z/!?]/i.test(html.charAt(at + 1))) return at;
  }
  return html.length;
}

/** Behind the markup that begins at `open`. */
function endOf(html: string, open: number): number | undefined {
  if (html.startsWith("<!--", open)) {
    const close = html.indexOf("-->", open + 4);
    return close < 0 ? html.length : close + 3;
  }
  let quote = "";
  for (let at = open + 1; at < html.length; at += 1) {
    const character = html.charAt(at);
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === ">") return at + 1;
    // A quote opens a value only: in <it's> it is a letter.
    else if ((character === '"' || character === "'") && html.charAt(at - 1) === "=") quote = character;
  }
  return undefined;
}

/** Where the closing tag of an element begins; the end when it is never closed. */
function closingOf(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}[\\s/>]`, "gi");
  closing.lastIndex = from;
  return closing.exec(html)?.index ?? html.length;
}
