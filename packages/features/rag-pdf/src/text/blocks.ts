/** Lines that were written one below the other in one column, as blocks: paragraphs, lists, tables. */
import { around, type Box, type Line } from "./lines.ts";

export interface Block extends Box {
  readonly lines: readonly Line[];
}

export function blocksOf(lines: readonly Line[]): Block[] {
  const blocks: Line[][] = [];
  for (const line of lines) {
    const block = blocks.at(-1);
    const before = block?.at(-1);
    if (block !== undefined && before !== undefined && goesOn(before, line)) block.push(line);
    else blocks.push([line]);
  }
  return blocks.map((all) => ({ ...around(all), lines: all }));
}

/** Distance between two lines of a block, in heights of the font. */
const MOST_LEADING = 0.9;

function goesOn(before: Line, line: Line): boolean {
  if (before.isLevel !== line.isLevel) return false;
  const size = Math.max(before.size, line.size);
  if (Math.min(before.size, line.size) < size * 0.7) return false;
  const leading = line.top - before.bottom;
  const shared = Math.min(before.right, line.right) - Math.max(before.left, line.left);
  return line.bottom > before.bottom && leading < size * MOST_LEADING && shared > 0;
}
