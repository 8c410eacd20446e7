/** Two columns of running text that were written row by row, across the gap between them. */
import { type Cell, type Line, lineOf } from "./lines.ts";

/** Rows one below the other from which on two columns are more likely than two cells. */
const LEAST_ROWS = 4;
/** Characters of a cell, on average, from which on it is running text: cells of tables are short. */
const LEAST_CHARS = 18;

/** The same lines, with the right column after the left one. */
export function columnsApart(lines: readonly Line[]): Line[] {
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
