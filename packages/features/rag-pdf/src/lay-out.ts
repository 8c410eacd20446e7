/**
 * Pieces of text with their places → lines in reading order.
 *
 * The order in which a program wrote its text is mostly that in which it is read: it is kept wherever the places do not speak
 * against it. They do where a block was written after one that lies below it, in the same column, and where two columns of running
 * text were written row by row. Cells of a table stay in the row in which they were written.
 */
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

/** In file order, except that a block above others of its column goes first. */
function inReadingOrder(blocks: readonly Block[]): Block[] {
  const waiting = blocks.map((block) => ({ block, above: blocks.filter((other) => isAbove(other, block)) }));
  const done = new Set<Block>();
  const ordered: Block[] = [];
  while (waiting.length > 0) {
    const next = waiting.findIndex(({ above }) => above.every((other) => done.has(other)));
    // Being above can't go round in a circle: someone is always free.
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

/** Lines that were written one below the other in one column, as blocks: paragraphs, lists, tables. */
interface Block extends Box {
  readonly lines: readonly Line[];
}

function blocksOf(lines: readonly Line[]): Block[] {
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

// Two columns of running text that were written row by row, across the gap between them.

/** Rows one below the other from which on two columns are more likely than two cells. */
const LEAST_ROWS = 4;
/** Characters of a cell, on average, from which on it is running text: cells of tables are short. */
const LEAST_CHARS = 18;

/** The same lines, with the right column after the left one. */
function columnsApart(lines: readonly Line[]): Line[] {
  const apart: Line[] = [];
  let rows: Line[] = [];
  const end = (): void => {
    apart.push(...(isColumns(rows) ? bySide(rows) : rows));
    rows = [];
  };
  for (const line of lines) {
    const before = rows.at(-1);
    if (line.cells.length !== 2 || (before !== undefined && !continues(before, line))) end();
    if (line.cells.length === 2) rows.push(line);
    else apart.push(line);
  }
  end();
  return apart;
}

/** Its cells stand below those of the row before. */
const continues = (before: Line, line: Line): boolean =>
  line.top > before.top &&
  line.top - before.bottom < before.size * 2 &&
  line.cells.every(({ left }, at) => Math.abs(left - before.cells[at]!.left) < line.size);

function isColumns(rows: readonly Line[]): boolean {
  const cells = rows.flatMap((row) => row.cells);
  const characters = cells.reduce((sum, { text }) => sum + text.length, 0);
  return rows.length >= LEAST_ROWS && characters >= cells.length * LEAST_CHARS;
}

const bySide = (rows: readonly Line[]): Line[] =>
  [0, 1].flatMap((side) => rows.map(({ cells, isLevel }) => lineOf([cells[side] as Cell], isLevel)));

/** Pieces that were written one after the other on one baseline, as lines. */
interface Line extends Box {
  readonly text: string;
  /** Runs of text with wide gaps between them, as in a table. */
  readonly cells: readonly Cell[];
  readonly isLevel: boolean;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly size: number;
}

interface Cell extends Box {
  readonly text: string;
}

/** Gap, in heights of the font, from which on two pieces are cells beside each other, not words. */
const CELL_GAP = 1;

function linesOf(pieces: readonly Piece[]): Line[] {
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

/** Their distance along a common line, in any direction; undefined: they are not on one line. */
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

function lineOf(cells: readonly Cell[], isLevel: boolean): Line {
  return { ...around(cells), cells, isLevel, text: cells.map(({ text }) => text.trim()).join("  ") };
}

function around(boxes: readonly Box[]): Box {
  return {
    left: Math.min(...boxes.map(({ left }) => left)),
    right: Math.max(...boxes.map(({ right }) => right)),
    top: Math.min(...boxes.map(({ top }) => top)),
    bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
    size: Math.max(...boxes.map(({ size }) => size)),
  };
}

/** Bullets and numbers of lists that were written apart from their lines, before or after all of them. */
const MOST_CHARS = 4;
/** Between a marker and its line, in heights of the font. */
const MOST_GAP = 3;

function withMarkers(lines: readonly Line[]): Line[] {
  const joined = new Map<Line, Line>();
  const gone = new Set<Line>();
  for (const marker of lines) {
    if (marker.cells.length > 1 || marker.text.length > MOST_CHARS || !marker.isLevel) continue;
    const line = lines.find(
      (other) => other !== marker && !joined.has(other) && !gone.has(other) && isMarkerOf(marker, other),
    );
    if (line === undefined) continue;
    const [first, ...others] = line.cells;
    const cell = { ...first!, left: marker.left, text: `${marker.text.trim()} ${first!.text.trim()}` };
    joined.set(line, lineOf([cell, ...others], true));
    gone.add(marker);
  }
  return lines.filter((line) => !gone.has(line)).map((line) => joined.get(line) ?? line);
}

function isMarkerOf(marker: Line, line: Line): boolean {
  const gap = line.left - marker.right;
  return (
    line.isLevel &&
    line.text.length > MOST_CHARS &&
    Math.abs(line.bottom - marker.bottom) < line.size * 0.3 &&
    gap > -line.size * 0.2 &&
    gap < line.size * MOST_GAP
  );
}
