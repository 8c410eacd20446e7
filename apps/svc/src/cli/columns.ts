/** Rows for a person: columns as wide as their widest cell, the last one as it comes. */
import { printable } from "./question.ts";

export function columns(rows: readonly (readonly string[])[]): string {
  return laidOut(rows, (cell) => cell);
}

/** The same, ready to be printed: nothing in a cell drives the terminal, and the column of states is in colour. */
export function stateColumns(rows: readonly (readonly string[])[], stateAt: number, tintState: Tint): string {
  const plain = rows.map((row) => row.map((cell) => printable(cell).replaceAll("\n", " ")));
  return laidOut(plain, (cell, index) => (index === stateAt ? tintState(cell) : cell));
}

type Tint = (cell: string) => string;

function laidOut(rows: readonly (readonly string[])[], tint: (cell: string, index: number) => string): string {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, index) => Math.max(widest[index] ?? 0, cell.length)),
    [],
  );
  const line = (row: readonly string[]): string =>
    row.map((cell, index) => tint(index === row.length - 1 ? cell : cell.padEnd(widths[index]!), index)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}
