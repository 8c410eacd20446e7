/**
 * Pieces of text with their places → lines in reading order.
 *
 * The order in which a program wrote its text is mostly that in which it is read: it is kept wherever the places do not speak
 * against it. They do where a block was written after one that lies below it, in the same column, and where two columns of running
 * text were written row by row. Cells of a table stay in the row in which they were written.
 */
import { blocksOf, type Block } from "./blocks.ts";
import { columnsApart } from "./columns.ts";
import { linesOf } from "./lines.ts";
import { withMarkers } from "./markers.ts";

export interface Piece {
  readonly text: string;
  /** There was a gap, or an end of a line, between this and the piece that was written before. */
  readonly gapBefore: boolean;
  readonly left: number;
  readonly right: number;
  /** y grows downwards; the bottom is the baseline. */
  readonly top: number;
  readonly bottom: number;
  /** Height of the font. */
  readonly size: number;
  /** It runs as most of the page does, not at an angle. */
  readonly isLevel: boolean;
}

export function layOut(pieces: readonly Piece[]): string {
  const blocks = blocksOf(withMarkers(columnsApart(linesOf(pieces))));
  return inReadingOrder(blocks)
    .map(({ lines }) => joined(lines.map(({ text }) => text)))
    .join("\n\n");
}

/** A word that was parted at the end of a line is made whole again. */
function joined(lines: readonly string[]): string {
  let text = "";
  for (const line of lines) {
    if (text === "") text = line;
    else if (PARTED.test(text) && /^\p{Ll}/u.test(line)) text = text.slice(0, -1) + line;
    else text += `\n${line}`;
  }
  return text.replaceAll("\u00AD", "");
}

const PARTED = /\p{L}[-\u00AD\u2010]$/u;

/** As written, but for blocks that lie above others of their column: those go first. */
function inReadingOrder(blocks: readonly Block[]): Block[] {
  const waiting = blocks.map((block) => ({ block, above: blocks.filter((other) => isAbove(other, block)) }));
  const done = new Set<Block>();
  const ordered: Block[] = [];
  while (waiting.length > 0) {
    const next = waiting.findIndex(({ above }) => above.every((other) => done.has(other)));
    // Being above can't go round in a circle: somebody is always free.
    const [free] = waiting.splice(Math.max(next, 0), 1);
    done.add(free!.block);
    ordered.push(free!.block);
  }
  return ordered;
}

/** Middles are compared first, so that no two blocks are above each other. */
function isAbove(one: Block, other: Block): boolean {
  if (one.top + one.bottom >= other.top + other.bottom) return false;
  const shared = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const tolerance = Math.min(one.size, other.size) * 0.3;
  return shared > tolerance && one.bottom <= other.top + tolerance;
}
