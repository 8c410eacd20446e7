/**
 * Markdown as models write it, as the Markdown of a card (JSON 2.0), which has tags of its own: `<at>` calls people, `<font>` and
 * others draw. Nothing of the text may be read as one, so that each sign with a meaning is written as an entity.
 * https://open.larksuite.com/document/feishu-cards/card-json-v2-components/content-components/rich-text
 */
import { type Block, columnsOf, type Inline, type Item, readMarkdown } from "@svc/kit/markdown";

/** Never fails: invalid Markdown stays text. */
export const cardMarkdown = (text: string): string => blocksText(readMarkdown(text.toWellFormed()));

const blocksText = (blocks: readonly Block[]): string =>
  blocks.map((block) => "\n".repeat(Math.min(2, block.gap)) + blockText(block)).join("");

function blockText(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return atLineStarts(inlineText(block.inlines));
    case "heading":
      return `${"#".repeat(block.level)} ${inlineText(block.inlines).replaceAll("\n", " ")}`;
    case "rule":
      return "---";
    case "quote":
      return blocksText(block.blocks).replaceAll(/^/gm, "> ");
    case "code":
      return fenced(block.text, block.info);
    case "table":
      return fenced(columnsOf(block), "");
    case "definition":
      return escaped(block.text);
    case "list":
      return block.items.map((item) => "\n".repeat(Math.min(2, item.gap)) + itemText(item)).join("");
  }
}

function itemText({ number, task, blocks }: Item): string {
  const mark = number === undefined ? "-" : number.replace(")", ".");
  const box = task === undefined ? "" : task === "done" ? "\u2611 " : "\u2610 ";
  // What belongs to an item is four spaces further in.
  return `${mark} ${box}${blocksText(blocks).replaceAll("\n", "\n    ")}`;
}

/** Longer than any run of backticks in it. */
function fenced(text: string, info: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${/^[\w+#.-]{1,20}$/.test(info) ? info : ""}\n${withoutCalls(text)}\n${fence}`;
}

const inlineText = (inlines: readonly Inline[]): string => inlines.map(oneInline).join("");

function oneInline(inline: Inline): string {
  switch (inline.kind) {
    case "text":
      return escaped(inline.text);
    case "break":
      return "\n";
    case "bold":
      return marked("**", inline.children);
    case "italic":
      return marked("*", inline.children);
    case "strike":
      return marked("~~", inline.children);
    case "code":
      return /[`\n]/.test(inline.text) ? escaped(inline.text) : `\`${withoutCalls(inline.text)}\``;
    case "link":
      return linkText(inline);
  }
}

/** Marks with white space or nothing inside of them are shown as marks. */
function marked(mark: string, children: readonly Inline[]): string {
  const text = inlineText(children);
  return text === "" || text !== text.trim() ? text : `${mark}${text}${mark}`;
}

function linkText({ url, target, children, form }: Extract<Inline, { kind: "link" }>): string {
  const label = inlineText(children);
  if (url === undefined) return label === "" || form === "bare" ? escaped(target) : `${label} (${escaped(target)})`;
  const address = url
    .replaceAll(/[()<>\\]/g, encodeURIComponent)
    .replaceAll("(", "%28")
    .replaceAll(")", "%29");
  return `[${label === "" ? escaped(target) : label.replaceAll("\n", " ")}](${address})`;
}

/** `&` only where it would begin an entity: everywhere else it means nothing. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[\\`*_~[\]<>|$]|&(?=#?\w{1,31};)|:(?=\w{1,64}:)/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replaceAll("\u0000", "\uFFFD");

/** What begins a heading, a list or a rule only at the beginning of a line. */
const atLineStarts = (text: string): string =>
  text.replaceAll(/^([ \t]*)([#+=-]|\d{1,9}(?=[.)]))/gm, (_, space: string, sign: string) =>
    /^\d/.test(sign) ? `${space}&#${sign.charCodeAt(0)};${sign.slice(1)}` : `${space}&#${sign.charCodeAt(0)};`,
  );

/** Entities are not read in code: a space of no width keeps a tag from being one. */
const withoutCalls = (text: string): string =>
  text.replaceAll(/<(?=\/?[a-z])/gi, "<\u200B").replaceAll("\u0000", "\uFFFD");
