/** Blocks as the platform can show them: it has neither headings nor lists nor tables. */
import { type Block, type Code, columnsOf, type Item } from "@svc/kit/markdown";
import { inlineNodes } from "./inline.ts";
import type { Node } from "./node.ts";

interface Place {
  /** How many lists it is within. */
  readonly level: number;
  /** Whether it begins on the line of an item's mark. */
  readonly isBehindMark: boolean;
  readonly isQuoted: boolean;
}

const OUTSIDE: Place = { level: 0, isBehindMark: false, isQuoted: false };

export const blockNodes = (blocks: readonly Block[], place: Place = OUTSIDE): Node[] =>
  blocks.flatMap((block) => below(block.gap, oneBlock(block, place)));

const below = (gap: number, nodes: readonly Node[]): Node[] => (gap === 0 ? [...nodes] : ["\n".repeat(gap), ...nodes]);

function oneBlock(block: Block, place: Place): Node[] {
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
      return block.items.flatMap((item, index) => below(item.gap, itemNodes(item, index, place)));
    case "quote": {
      // The platform has no quote within a quote: what is quoted twice is quoted once.
      const children = blockNodes(block.blocks, { ...place, isQuoted: true });
      return place.isQuoted || children.length === 0 ? children : [{ kind: "quote", children }];
    }
  }
}

/** Of an empty one people would see nothing, not even an empty line. */
function codeNodes({ text, info }: Code): Node[] {
  const language = /^[\w+#.-]{1,32}/.exec(info)?.[0];
  return text.trim() === "" ? [] : [{ kind: "pre", text, language }];
}

const TASKS = { open: "☐", done: "☑" } as const;

function itemNodes({ number, task, blocks }: Item, index: number, { level, isBehindMark, isQuoted }: Place): Node[] {
  const indent = isBehindMark && index === 0 ? "" : "  ".repeat(level);
  const bullet = task === undefined ? "•" : undefined;
  const mark = [number ?? bullet, task && TASKS[task]].filter((part) => part !== undefined).join(" ");
  const inner = blocks.flatMap((block, at) =>
    blockNodes([block], { level: level + 1, isBehindMark: at === 0, isQuoted }),
  );
  return [`${indent}${mark}${inner.length === 0 ? "" : " "}`, ...inner];
}
