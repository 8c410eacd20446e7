/** Markdown, as models write it, as the platform's HTML. */
import { type Block, type Code, columnsOf, type Inline, type Item, type Link, readMarkdown } from "@svc/kit/markdown";

export interface Formatted {
  readonly html: string;
  /** What people read of it. */
  readonly text: string;
}

export function formatMarkdown(markdown: string): Formatted {
  const nodes = blockNodes(readMarkdown(markdown));
  return { html: htmlOf(nodes), text: plainTextOf(nodes) };
}

/** Blocks as the platform can show them: it has neither headings nor lists nor tables. */
interface Position {
  /** How many lists it is within. */
  readonly level: number;
  /** Whether it begins on the line of an item's mark. */
  readonly isBehindMark: boolean;
  readonly isQuoted: boolean;
}

const OUTSIDE: Position = { level: 0, isBehindMark: false, isQuoted: false };

const blockNodes = (blocks: readonly Block[], position: Position = OUTSIDE): Node[] =>
  blocks.flatMap((block) => below(block.gap, oneBlock(block, position)));

const below = (gap: number, nodes: readonly Node[]): Node[] => (gap === 0 ? [...nodes] : ["\n".repeat(gap), ...nodes]);

function oneBlock(block: Block, position: Position): Node[] {
  switch (block.kind) {
    case "paragraph":
      return inlineNodes(block.inlines);
    case "heading":
      return [{ kind: "bold", children: inlineNodes(block.inlines) }];
    case "rule":
      return ["———"];
    case "definition":
      return [block.text];
    case "code":
      return codeNodes(block);
    case "table":
      return [{ kind: "pre", text: columnsOf(block), language: undefined }];
    case "list":
      return block.items.flatMap((item, index) => below(item.gap, itemNodes(item, index, position)));
    case "quote": {
      // The platform has no nested quotes: flatten them.
      const children = blockNodes(block.blocks, { ...position, isQuoted: true });
      return position.isQuoted || children.length === 0 ? children : [{ kind: "quote", children }];
    }
  }
}

/** The platform shows nothing for an empty block, not even an empty line. */
function codeNodes({ text, info }: Code): Node[] {
  const language = /^[\w+#.-]{1,32}/.exec(info)?.[0];
  return text.trim() === "" ? [] : [{ kind: "pre", text, language }];
}

const TASKS = { open: "☐", done: "☑" } as const;

function itemNodes({ number, task, blocks }: Item, index: number, { level, isBehindMark, isQuoted }: Position): Node[] {
  const indent = isBehindMark && index === 0 ? "" : "  ".repeat(level);
  const bullet = task === undefined ? "•" : undefined;
  const mark = [number ?? bullet, task && TASKS[task]].filter((part) => part !== undefined).join(" ");
  const inner = blocks.flatMap((block, at) =>
    blockNodes([block], { level: level + 1, isBehindMark: at === 0, isQuoted }),
  );
  return [`${indent}${mark}${inner.length === 0 ? "" : " "}`, ...inner];
}

/** Formatting within a line or a paragraph. */
const inlineNodes = (inlines: readonly Inline[]): Node[] =>
  inlines.flatMap((inline): Node[] => {
    switch (inline.kind) {
      case "text":
        return [inline.text];
      case "break":
        return ["\n"];
      case "code":
        return [{ kind: "code", text: inline.text }];
      case "link":
        return linkNodes(inline);
      default:
        return [{ kind: inline.kind, children: inlineNodes(inline.children) }];
    }
  });

/** A picture becomes a link to it: a text of the platform can't hold pictures. */
function linkNodes({ form, target, url, children }: Link): Node[] {
  const label = withoutLinks(inlineNodes(children));
  // The platform finds addresses in a text by itself.
  if (form === "bare") return label;
  const text = plainTextOf(label);
  if (text.trim() === "" || text === target) return [target];
  const href = url ?? target;
  // What the platform makes no link of, it drops silently: people read it instead.
  return isLink(href) ? [{ kind: "link", href, children: label }] : [...label, ` (${target})`];
}

/** https://core.telegram.org/bots/api#formatting-options */
function isLink(url: string): boolean {
  if (/[\p{C}\s]/u.test(url) || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (protocol === "tg:") return true;
  return (protocol === "http:" || protocol === "https:") && hostname.includes(".");
}

/** A link can't hold another one, such as a picture's. */
const withoutLinks = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((node): Node[] => {
    if (typeof node === "string" || "text" in node) return [node];
    const children = withoutLinks(node.children);
    return node.kind === "link" ? children : [{ ...node, children }];
  });

/**
 * A formatted text as a tree. Tags are opened and closed by `htmlOf` alone, and nothing else writes HTML, so that no text,
 * however broken, becomes one that the platform can't parse.
 * https://core.telegram.org/bots/api#html-style
 */
type Node =
  | string
  | { readonly kind: "bold" | "italic" | "strike" | "quote"; readonly children: readonly Node[] }
  | { readonly kind: "link"; readonly href: string; readonly children: readonly Node[] }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "pre"; readonly text: string; readonly language: string | undefined };

const TAGS = { bold: "b", italic: "i", strike: "s", quote: "blockquote" } as const;

export function htmlOf(nodes: readonly Node[]): string {
  return nodes.map(oneAsHtml).join("");
}

function oneAsHtml(node: Node): string {
  if (typeof node === "string") return escaped(node);
  if (node.kind === "code") return `<code>${escaped(node.text)}</code>`;
  if (node.kind === "pre") return preAsHtml(node.text, node.language);
  const inner = htmlOf(node.children);
  if (node.kind === "link") return `<a href="${escaped(node.href)}">${inner}</a>`;
  return `<${TAGS[node.kind]}>${inner}</${TAGS[node.kind]}>`;
}

function preAsHtml(text: string, language: string | undefined): string {
  if (language === undefined) return `<pre>${escaped(text)}</pre>`;
  return `<pre><code class="language-${escaped(language)}">${escaped(text)}</code></pre>`;
}

/** What people read, without the formatting: the platform counts the length of this. */
function plainTextOf(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if (typeof node === "string") return node;
      return "text" in node ? node.text : plainTextOf(node.children);
    })
    .join("");
}

/** The platform knows exactly these four named entities. */
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] as string);
