/**
 * An answer as a rich text block: for what an edit's text has no room for.
 * https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
 */
import type { Json } from "@svc/contract";
import { blocksOf } from "./blocks.ts";
import type { Block, Run } from "./types.ts";

export const richTextOf = (markdown: string): Json => ({
  type: "rich_text",
  elements: blocksOf(markdown).flatMap(elementsOf),
});

/** Elements stand on lines of their own; what is left of the gap are empty lines. */
function elementsOf(block: Block): Json[] {
  const before = "\n".repeat(Math.max(0, block.gap - 1));
  const blank: Json[] = before === "" ? [] : [section([{ text: before }])];
  if (block.kind === "rule") return [...blank, section([{ text: "———" }])];
  if (block.kind === "text") return [...blank, section([{ text: block.prefix }, ...block.runs])];
  if (block.kind === "code") {
    return [...blank, { type: "rich_text_preformatted", elements: textElements([{ text: block.text || " " }]) }];
  }
  return [...blank, { type: "rich_text_quote", elements: textElements(quotedRuns(block.blocks)) }];
}

const section = (runs: readonly Run[]): Json => ({ type: "rich_text_section", elements: textElements(runs) });

function quotedRuns(blocks: readonly Block[]): Run[] {
  return blocks.flatMap((block): Run[] => {
    const before: Run = { text: "\n".repeat(block.gap) };
    if (block.kind === "quote") return [before, ...quotedRuns(block.blocks)];
    if (block.kind === "code") return [before, { text: block.text, code: true }];
    return [before, ...(block.kind === "rule" ? [{ text: "———" }] : [{ text: block.prefix }, ...block.runs])];
  });
}

/** No element may be empty. */
const textElements = (runs: readonly Run[]): Json[] =>
  runs
    .filter(({ text }) => text !== "")
    .map(({ text, url, bold, italic, strike, code }) => {
      const style = {
        ...(bold && { bold }),
        ...(italic && { italic }),
        ...(strike && { strike }),
        ...(code && { code }),
      };
      return {
        ...(url === undefined ? { type: "text", text } : { type: "link", url, text }),
        ...(Object.keys(style).length > 0 && { style }),
      };
    });
