/** The text of an HTML mail as a person reads it: paragraphs, lists, links, quotes. */
import { decodeHTML } from "entities";
import { type HtmlToken, htmlTokens } from "./html-tokens.ts";
import { TextLines } from "./text-lines.ts";

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
