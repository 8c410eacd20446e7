/** Paragraphs, lists, tables and code as what is said, one after the other. */
import type { Block, Item } from "@svc/kit/markdown";
import { spokenInline } from "./inline.ts";

export type SpokenBlock = { readonly kind: "text"; readonly text: string } | { readonly kind: "code" };

export const spokenBlocks = (blocks: readonly Block[]): SpokenBlock[] =>
  blocks.flatMap((block) => spokenBlock(block)).filter((block) => block.kind === "code" || block.text !== "");

function spokenBlock(block: Block): SpokenBlock[] {
  switch (block.kind) {
    case "rule":
    case "definition":
      return [];
    case "code":
      return [{ kind: "code" }];
    case "heading":
      return [ended(spokenInline(block.inlines))];
    case "quote":
      return spokenBlocks(block.blocks);
    case "list":
      return block.items.flatMap((item) => spokenItem(item));
    case "table":
      return block.rows.map((row) =>
        ended(
          row
            .map((cell) => spokenInline(cell).trim())
            .filter((cell) => cell !== "")
            .join(", "),
        ),
      );
    case "paragraph":
      return [said(spokenInline(block.inlines).trim())];
  }
}

/** Each item is a sentence: that is the pause between them. */
function spokenItem({ number, blocks }: Item): SpokenBlock[] {
  const [first, ...others] = spokenBlocks(blocks);
  if (first === undefined) return [];
  if (first.kind === "code") return [first, ...others];
  return [ended(number === undefined ? first.text : `${Number.parseInt(number, 10)}. ${first.text}`), ...others];
}

const said = (text: string): SpokenBlock => ({ kind: "text", text });

function ended(text: string): SpokenBlock {
  const whole = text.trim();
  return said(whole === "" || /[.!?…:;,。！？：；，、]["'”’»)\]]*$/.test(whole) ? whole : `${whole}.`);
}
