/** Markdown, as models write it, as the platform's HTML. */
import { readMarkdown } from "@svc/kit/markdown";
import { blockNodes } from "./blocks.ts";
import { htmlOf, textOf } from "./node.ts";

export interface Formatted {
  readonly html: string;
  /** What people read of it. */
  readonly text: string;
}

export function formatMarkdown(markdown: string): Formatted {
  const nodes = blockNodes(readMarkdown(markdown));
  return { html: htmlOf(nodes), text: textOf(nodes) };
}
