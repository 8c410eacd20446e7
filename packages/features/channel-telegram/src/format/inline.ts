/** Formatting within a line or a paragraph. */
import type { Inline, Link } from "@svc/kit/markdown";
import { type Node, textOf } from "./node.ts";

export const inlineNodes = (inlines: readonly Inline[]): Node[] =>
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

/** A picture is a link to it: the platform has none within a text. */
function linkNodes({ form, target, url, children }: Link): Node[] {
  const label = withoutLinks(inlineNodes(children));
  // The platform finds addresses in a text by itself.
  if (form === "bare") return label;
  const text = textOf(label);
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

/** A link in a link is none: a picture, say. */
const withoutLinks = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((node): Node[] => {
    if (typeof node === "string" || "text" in node) return [node];
    const children = withoutLinks(node.children);
    return node.kind === "link" ? children : [{ ...node, children }];
  });
