/** Links and pictures of Markdown. A picture is a link to it: the platform has none within a text. */
import type { Span } from "./inline.ts";
import type { Node } from "./node.ts";

/** `labelled` formats what is between the brackets. Undefined where no link begins. */
export function linkAt(text: string, at: number, labelled: (label: string) => Node[]): Span | undefined {
  const rest = text.slice(at);
  const bare = /^<(https?:\/\/[^\s<>]+)>/i.exec(rest);
  // The platform finds addresses in a text by itself.
  if (bare) return { nodes: [bare[1] as string], end: at + bare[0].length };
  const opening = /^!?\[/.exec(rest)?.[0];
  const close = opening === undefined ? undefined : closingBracket(rest, opening.length);
  const target = close === undefined ? undefined : TARGET.exec(rest.slice(close + 1));
  if (opening === undefined || close === undefined || !target) return undefined;
  const label = rest.slice(opening.length, close);
  const url = target[1] ?? (target[2] as string);
  return { nodes: linkNodes(label, url, labelled), end: at + close + 1 + target[0].length };
}

/** `(url)`, `(<url>)`, `(url "title")`; parentheses within a URL come in pairs. */
const TARGET = /^\(\s*(?:<([^<>\n]*)>|((?:[^\s()]|\([^\s()]*\))+))(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)/;

/** Looked for no further than any label goes: a text of nothing but brackets would take the square of its length. */
const MAX_LABEL_CHARS = 500;

function closingBracket(text: string, from: number): number | undefined {
  let depth = 1;
  for (let at = from; at < Math.min(text.length, from + MAX_LABEL_CHARS); at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "[") depth += 1;
    else if (text[at] === "]") depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}

function linkNodes(label: string, url: string, labelled: (label: string) => Node[]): readonly Node[] {
  if (label.trim() === "" || label === url) return [url];
  const children = withoutLinks(labelled(label));
  // What the platform makes no link of, it drops silently: people read it instead.
  return isLink(url) ? [{ kind: "link", href: url, children }] : [...children, ` (${url})`];
}

/** https://core.telegram.org/bots/api#formatting-options */
function isLink(url: string): boolean {
  if (/[\p{C}\s]/u.test(url) || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (protocol === "tg:") return true;
  return (protocol === "http:" || protocol === "https:") && hostname.includes(".");
}

/** A link in a link is none. */
function withoutLinks(nodes: readonly Node[]): Node[] {
  return nodes.flatMap((node): Node[] => {
    if (typeof node === "string" || "text" in node) return [node];
    const children = withoutLinks(node.children);
    return node.kind === "link" ? children : [{ ...node, children }];
  });
}
