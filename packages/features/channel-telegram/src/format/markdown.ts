/** Markdown, as models write it, as the platform's HTML. */
import { blockNodes } from "./blocks.ts";
import { htmlOf, textOf } from "./node.ts";

export interface Formatted {
  readonly html: string;
  /** What people read of it. */
  readonly text: string;
}

export function formatMarkdown(markdown: string): Formatted {
  const nodes = blockNodes(markdown.replaceAll(/\r\n?/g, "\n").split("\n"));
  return { html: htmlOf(nodes), text: textOf(nodes) };
}
