/** Markdown as blocks that the platform has: lists are lines with a mark, tables are columns, headings are bold. */
import { type Block as Meant, columnsOf, type Inline, type Item, readMarkdown } from "@svc/kit/markdown";
import { runsOf } from "./inline.ts";
import { type Block, MOST_GAP, type Style } from "./types.ts";

/** Never fails: an answer that is not finished yet is read as if it ended there. */
export const blocksOf = (markdown: string): Block[] => readMarkdown(markdown).flatMap((block) => shown(block, 0));

/** `level`: how many lists it is within. */
function shown(block: Meant, level: number): Block[] {
  const gap = Math.min(block.gap, MOST_GAP);
  switch (block.kind) {
    case "paragraph":
      return [textBlock(block.inlines, gap, level)];
    case "heading":
      return [textBlock(block.inlines, gap, level, { bold: true })];
    case "definition":
      return [textBlock([{ kind: "text", text: block.text }], gap, level)];
    case "rule":
      return [{ kind: "rule", gap }];
    case "code":
      // The name of a language is for colours, which there are none of; anything else is somebody's words.
      return [{ kind: "code", gap, text: LANGUAGE.test(block.info) ? block.text : `${block.info}\n${block.text}` }];
    case "table":
      return [{ kind: "code", gap, text: columnsOf(block) }];
    case "quote":
      return [{ kind: "quote", gap, blocks: block.blocks.flatMap((one) => shown(one, 0)) }];
    case "list":
      return block.items.flatMap((item, index) => itemBlocks(item, index === 0 ? gap : item.gap, level));
  }
}

const LANGUAGE = /^[\w+#.-]{0,20}$/;
const ROOM = "    ";

/** All its lines are as far to the right as the text of the item that it belongs to. */
function textBlock(inlines: readonly Inline[], gap: number, level: number, style?: Style): Block {
  const room = level === 0 ? "" : `${ROOM.repeat(level - 1)}   `;
  const runs = runsOf(inlines, style).map((run) => ({ ...run, text: run.text.replaceAll("\n", `\n${room}`) }));
  return { kind: "text", gap, prefix: room, runs };
}

const TASKS = { open: "☐", done: "☑" } as const;

function itemBlocks({ number, task, blocks }: Item, itemGap: number, level: number): Block[] {
  const bullet = task === undefined ? "•" : undefined;
  const mark = [number ?? bullet, task && TASKS[task]].filter((part) => part !== undefined).join(" ");
  const [gap, prefix] = [Math.min(itemGap, MOST_GAP), `${ROOM.repeat(level)}${mark} `];
  const [first, ...others] = blocks.flatMap((block) => shown(block, level + 1));
  const isOnLine = blocks[0]?.kind === "paragraph" || blocks[0]?.kind === "heading";
  if (first?.kind === "text" && isOnLine) return [{ ...first, gap, prefix }, ...others];
  const line: Block = { kind: "text", gap, prefix, runs: [] };
  return first === undefined ? [line] : [line, { ...first, gap: 1 }, ...others];
}
