/**
 * A formatted text as a tree. Tags are opened and closed by `htmlOf` alone, and nothing else writes HTML, so that no text,
 * however broken, becomes one that the platform can't parse.
 * https://core.telegram.org/bots/api#html-style
 */
export type Node =
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
export function textOf(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if (typeof node === "string") return node;
      return "text" in node ? node.text : textOf(node.children);
    })
    .join("");
}

/** The platform knows exactly these four named entities. */
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] as string);
