/** A Markdown answer as speech: without asterisks, link addresses or code. */
import { plainOf } from "./plain.ts";
import { readMarkdown } from "./read.ts";
import type { Block, Inline, Item, Link } from "./tree.ts";

export interface SpeakableOptions {
  /** Spoken once, in place of all code blocks. Default: nothing. */
  readonly codeNotice?: string;
  /** Removes text that the speech engine can't take. It also runs on the parsed text, since an entity can stand for any character. */
  readonly clean?: (text: string) => string;
}

/** Blank when there is nothing to say. */
export function speakableOf(
  markdown: string,
  { codeNotice = "", clean = (same) => same }: SpeakableOptions = {},
): string {
  const notice = codeNotice.trim();
  const lines: string[] = [];
  let isTold = notice === "";
  for (const block of spokenBlocks(readMarkdown(clean(markdown)))) {
    if (block.kind === "text") lines.push(clean(block.text));
    else if (!isTold) {
      lines.push(notice);
      isTold = true;
    }
  }
  return lines.join("\n").trim();
}

type SpokenBlock = { readonly kind: "text"; readonly text: string } | { readonly kind: "code" };

const spokenBlocks = (blocks: readonly Block[]): SpokenBlock[] =>
  blocks.flatMap((block) => spokenBlock(block)).filter((block) => block.kind === "code" || block.text !== "");

function spokenBlock(block: Block): SpokenBlock[] {
  switch (block.kind) {
    case "rule":
    case "definition":
      return [];
    case "code":
      return [{ kind: "code" }];
    case "heading":
      return [ended(spokenInline(block.inlines))];
    case "quote":
      return spokenBlocks(block.blocks);
    case "list":
      return block.items.flatMap((item) => spokenItem(item));
    case "table":
      return block.rows.map((row) =>
        ended(
          row
            .map((cell) => spokenInline(cell).trim())
            .filter((cell) => cell !== "")
            .join(", "),
        ),
      );
    case "paragraph":
      return [said(spokenInline(block.inlines).trim())];
  }
}

/** Each item is a sentence: that is the pause between them. */
function spokenItem({ number, blocks }: Item): SpokenBlock[] {
  const [first, ...others] = spokenBlocks(blocks);
  if (first === undefined) return [];
  if (first.kind === "code") return [first, ...others];
  return [ended(number === undefined ? first.text : `${Number.parseInt(number, 10)}. ${first.text}`), ...others];
}

const said = (text: string): SpokenBlock => ({ kind: "text", text });

function ended(text: string): SpokenBlock {
  const whole = text.trim();
  return said(whole === "" || /[.!?…:;,。！？：；，、]["'”’»)\]]*$/.test(whole) ? whole : `${whole}.`);
}

/** The spoken form of a line: the text of links, the host of an address, and no marks. */
const spokenInline = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if (inline.kind === "link") return spokenLink(inline);
      if (inline.kind === "break") return "\n";
      return "text" in inline ? inline.text : spokenInline(inline.children);
    })
    .join("");

/** For an address that is its own text, the host alone: listeners don't want the rest. */
function spokenLink({ form, target, children }: Link): string {
  const text = plainOf(children);
  const isAddress = URL.canParse(text) && /^https?:/i.test(text);
  if (isAddress) return new URL(text).hostname.replace(/^www\./, "");
  const said = spokenInline(children).trim();
  return said === "" && form !== "image" ? target.replace(/^mailto:/, "") : said;
}
