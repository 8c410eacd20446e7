/**
 * Markdown as Matrix HTML. Tags are written here alone, and every text is escaped.
 * https://spec.matrix.org/v1.16/client-server-api/#mroommessage-msgtypes
 */
import { type Block, type Inline, type Item, readMarkdown, type Table } from "@svc/kit/markdown";

/** Undefined where the HTML would say nothing more than the text. */
export function htmlOf(markdown: string): string | undefined {
  const blocks = readMarkdown(markdown);
  const [only] = blocks;
  const html =
    blocks.length === 1 && only?.kind === "paragraph" ? inlineHtml(only.inlines) : blocks.map(blockHtml).join("\n");
  return html === "" || html === escaped(markdown).replaceAll("\n", "<br>") ? undefined : html;
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `<p>${inlineHtml(block.inlines)}</p>`;
    case "heading":
      return `<h${block.level}>${inlineHtml(block.inlines)}</h${block.level}>`;
    case "rule":
      return "<hr>";
    case "definition":
      return `<p>${escaped(block.text)}</p>`;
    case "code":
      return codeHtml(block.text, block.info);
    case "quote":
      return `<blockquote>${block.blocks.map(blockHtml).join("")}</blockquote>`;
    case "table":
      return tableHtml(block);
    case "list":
      return listHtml(block.items);
  }
}

function codeHtml(text: string, info: string): string {
  const language = /^[\w+#.-]{1,32}/.exec(info)?.[0];
  const attribute = language === undefined ? "" : ` class="language-${escaped(language)}"`;
  return `<pre><code${attribute}>${escaped(text)}\n</code></pre>`;
}

const TASKS = { open: "☐ ", done: "☑ " } as const;

/** An ordered list begins with the number of its first item. */
function listHtml(items: readonly Item[]): string {
  const number = /^(\d{1,9})/.exec(items[0]?.number ?? "")?.[1];
  const [open, close] =
    number === undefined ? ["<ul>", "</ul>"] : [number === "1" ? "<ol>" : `<ol start="${number}">`, "</ol>"];
  const inner = items.map(({ task, blocks }) => {
    const parts = blocks.map((block) => (block.kind === "paragraph" ? inlineHtml(block.inlines) : blockHtml(block)));
    return `<li>${task ? TASKS[task] : ""}${parts.join("<br>")}</li>`;
  });
  return `${open}${inner.join("")}${close}`;
}

function tableHtml({ rows }: Table): string {
  const [head = [], ...body] = rows;
  const row = (cells: readonly (readonly Inline[])[], tag: "th" | "td"): string =>
    `<tr>${cells.map((cell) => `<${tag}>${inlineHtml(cell)}</${tag}>`).join("")}</tr>`;
  return `<table><thead>${row(head, "th")}</thead><tbody>${body.map((cells) => row(cells, "td")).join("")}</tbody></table>`;
}

const TAGS = { bold: "strong", italic: "em", strike: "del" } as const;

function inlineHtml(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      switch (inline.kind) {
        case "text":
          return escaped(inline.text);
        case "break":
          return "<br>";
        case "code":
          return `<code>${escaped(inline.text)}</code>`;
        case "link": {
          const label =
            inline.children.length === 0 ? escaped(inline.target) : inlineHtml(withoutLinks(inline.children));
          // What leads nowhere is read as it was written.
          if (inline.url === undefined) return inline.form === "bare" ? label : `${label} (${escaped(inline.target)})`;
          return `<a href="${escaped(inline.url)}">${label}</a>`;
        }
        default:
          return `<${TAGS[inline.kind]}>${inlineHtml(inline.children)}</${TAGS[inline.kind]}>`;
      }
    })
    .join("");
}

/** HTML has no link in a link: a picture in a label, say. */
const withoutLinks = (inlines: readonly Inline[]): Inline[] =>
  inlines.flatMap((inline): Inline[] => {
    if (inline.kind === "link") return withoutLinks(inline.children);
    return "children" in inline ? [{ ...inline, children: withoutLinks(inline.children) }] : [inline];
  });

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
