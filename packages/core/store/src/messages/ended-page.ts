/** Those of a box that ended badly, in order of arrival, a page at a time: there may be a hundred thousand, and others wait. */
import type { DatabaseSync } from "node:sqlite";
import type { EndedFilter, EndedPage } from "../message-types.ts";
import type { BoxShape } from "./box.ts";

/** Looked at for one page. Each that is taken up again costs three statements of the transaction it is done in. */
const PAGE = 200;

export function endedPage<Row extends { readonly n: number; readonly channel: string }>(
  db: DatabaseSync,
  { table, well }: BoxShape,
  columns: string,
  { state, channel, after }: EndedFilter,
): EndedPage<Row> {
  // Other channels are left out afterwards: to look for 200 of one channel among all would take as long as it takes.
  const rows = db
    .prepare(
      `SELECT n, m.channel AS channel, ${columns} FROM ${table}_ended AS e JOIN ${table} AS m USING (n)
       WHERE e.state = ? AND e.state <> '${well}' AND n > ? ORDER BY n LIMIT ${PAGE}`,
    )
    .all(state, after) as unknown as Row[];
  return {
    messages: channel === undefined ? rows : rows.filter((row) => row.channel === channel),
    next: rows.length === PAGE ? rows.at(-1)!.n : undefined,
  };
}
