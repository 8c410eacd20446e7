/** Pieces that were written one after the other on one baseline, as lines. */
import type { Piece } from "./lay-out.ts";

export interface Line extends Box {
  readonly text: string;
  /** Runs of text with wide gaps between them, as in a table. */
  readonly cells: readonly Cell[];
  readonly isLevel: boolean;
}

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly size: number;
}

export interface Cell extends Box {
  readonly text: string;
}

/** Gap, in heights of the font, from which on two pieces are cells beside each other, not words. */
const CELL_GAP = 1;

export function linesOf(pieces: readonly Piece[]): Line[] {
  const lines: Line[] = [];
  let cells: Cell[] = [];
  let before: Piece | undefined;
  const end = (): void => {
    if (cells.length > 0) lines.push(lineOf(cells, before!.isLevel));
    cells = [];
  };
  for (const piece of pieces) {
    const gap = before && gapBetween(before, piece);
    if (gap === undefined) end();
    const last = cells.at(-1);
    if (last === undefined || gap === undefined || gap > CELL_GAP * piece.size) {
      cells.push(piece);
    } else {
      const space = piece.gapBefore || gap > 0.3 * piece.size ? " " : "";
      cells[cells.length - 1] = { ...around([last, piece]), text: `${last.text}${space}${piece.text}` };
    }
    before = piece;
  }
  end();
  return lines;
}

/** How far apart they are on their line, whichever way it runs; undefined: they are not on one. */
function gapBetween(one: Piece, other: Piece): number | undefined {
  if (!one.isLevel || !other.isLevel) {
    // At an angle, only what touches belongs together.
    const touches = Math.min(one.right, other.right) - Math.max(one.left, other.left) > -other.size / 2;
    const level = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > -other.size / 2;
    return one.isLevel === other.isLevel && touches && level ? 0 : undefined;
  }
  const size = Math.max(one.size, other.size);
  // A raised figure is on the line of its word.
  if (Math.abs(one.bottom - other.bottom) > size * 0.5) return undefined;
  const gap = Math.max(other.left - one.right, one.left - other.right);
  // What was written back over the text before is another line.
  return gap < -size ? undefined : Math.max(gap, 0);
}

export function lineOf(cells: readonly Cell[], isLevel: boolean): Line {
  return { ...around(cells), cells, isLevel, text: cells.map(({ text }) => text.trim()).join("  ") };
}

export function around(boxes: readonly Box[]): Box {
  return {
    left: Math.min(...boxes.map(({ left }) => left)),
    right: Math.max(...boxes.map(({ right }) => right)),
    top: Math.min(...boxes.map(({ top }) => top)),
    bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
    size: Math.max(...boxes.map(({ size }) => size)),
  };
}
