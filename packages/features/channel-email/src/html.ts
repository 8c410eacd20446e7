/** An answer with fonts: Markdown as HTML that holds nothing but what Markdown says. */
import type { Block, Cell, Inline, Item, Link, Table } from "@svc/kit/markdown";

/** A longer text is sent as plain text only: HTML would double the size. */
const MAX_CHARS = 32_000;

/** Undefined: the plain text says it all. */
export async function htmlOf(markdown: string): Promise<string | undefined> {
  if (markdown.length > MAX_CHARS || markdown.trim() === "") return undefined;
  // Loaded late: only answers need it.
  const { readMarkdown } = await import("@svc/kit/markdown");
  const body = blocksOf(readMarkdown(markdown.toWellFormed()));
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n${body}\n</body></html>\n`;
}

const blocksOf = (blocks: readonly Block[]): string => blocks.map(blockOf).join("\n");

function blockOf(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `<p>${inlinesOf(block.inlines)}</p>`;
    case "heading":
      return `<h${block.level}>${inlinesOf(block.inlines)}</h${block.level}>`;
    case "rule":
      return "<hr>";
    case "definition":
      return `<p>${escaped(block.text)}</p>`;
    case "code":
      return `<pre><code>${escaped(block.text)}</code></pre>`;
    case "table":
      return tableOf(block);
    case "list":
      return listOf(block.items);
    case "quote":
      return `<blockquote>${blocksOf(block.blocks)}</blockquote>`;
  }
}

/** Numbers are as they were written: a list that goes on after a paragraph goes on counting. */
function listOf(items: readonly Item[]): string {
  const name = items[0]?.number === undefined ? "ul" : "ol";
  return `<${name}>\n${items.map(itemOf).join("\n")}\n</${name}>`;
}

const TASKS = { open: "☐ ", done: "☑ " } as const;

function itemOf({ number, task, blocks }: Item): string {
  const value = /^\d{1,9}/.exec(number ?? "")?.[0];
  const [first, ...rest] = blocks;
  // The first paragraph of an item is on the line of its mark.
  const begun = first?.kind === "paragraph" ? inlinesOf(first.inlines) : first === undefined ? "" : blockOf(first);
  const inner = [`${task === undefined ? "" : TASKS[task]}${begun}`, ...rest.map(blockOf)].join("\n");
  return `<li${value === undefined ? "" : ` value="${value}"`}>${inner}</li>`;
}

function tableOf({ rows, align }: Table): string {
  const row = (cells: readonly Cell[], name: "th" | "td"): string =>
    `<tr>${cells.map((cell, column) => `<${name}${alignOf(align[column])}>${inlinesOf(cell)}</${name}>`).join("")}</tr>`;
  const [head = [], ...others] = rows;
  return `<table>\n${[row(head, "th"), ...others.map((cells) => row(cells, "td"))].join("\n")}\n</table>`;
}

const alignOf = (align: Table["align"][number]): string => (align === undefined ? "" : ` align="${align}"`);

const TAGS = { bold: "strong", italic: "em", strike: "s" } as const;

const inlinesOf = (inlines: readonly Inline[]): string => inlines.map(inlineOf).join("");

function inlineOf(inline: Inline): string {
  switch (inline.kind) {
    case "text":
      return escaped(inline.text);
    case "break":
      return "<br>\n";
    case "code":
      return `<code>${escaped(inline.text)}</code>`;
    case "link":
      return linkOf(inline);
    default:
      return `<${TAGS[inline.kind]}>${inlinesOf(inline.children)}</${TAGS[inline.kind]}>`;
  }
}

/** A picture is a link to it: one that is loaded tells its server who reads, and when. */
function linkOf({ url, target, children }: Link): string {
  const label = inlinesOf(children).replaceAll(/<\/?a\b[^<>]*>/g, "") || escaped(target);
  return url === undefined ? label : `<a href="${escaped(url)}">${label}</a>`;
}

const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
