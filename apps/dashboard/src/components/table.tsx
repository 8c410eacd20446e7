/**
 * Rows and columns; on a phone each row is a card. The roles are spelled out, since a table that is laid out as something
 * else is no table for a screen reader any more.
 */
import type { ComponentChildren, Key } from "preact";
import { type PlainKey, t } from "../texts/texts.ts";

export interface Column<Row> {
  readonly label: PlainKey;
  readonly cell: (row: Row) => ComponentChildren;
  /** For numbers and times: does not wrap. */
  readonly narrow?: boolean;
}

interface Props<Row> {
  /** Name of the table, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => Key;
}

export function Table<Row>({ label, columns, rows, keyOf }: Props<Row>) {
  const labels = columns.map(({ label: column }) => t(column));
  return (
    <table role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {labels.map((column) => (
            <th key={column} role="columnheader" scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ label: column, cell, narrow = false }, index) => (
              <td key={column} role="cell" data-label={labels[index]} class={narrow ? "narrow" : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
