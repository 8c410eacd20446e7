/** A list of messages, newest first. It walks only what it lists: a million answered ones stand in nobody's way. */
import type { DatabaseSync } from "node:sqlite";
import type { MessageFilter } from "../message-types.ts";
import { type BoxRow, type BoxShape, selectFrom } from "./box.ts";

export function listMessages<Row extends BoxRow>(
  db: DatabaseSync,
  shape: BoxShape,
  { state, channel, before = Number.MAX_SAFE_INTEGER }: MessageFilter,
  limit: number,
): Row[] {
  const rows = (by: "m" | "o" | "e", ...conditions: (string | false)[]): Row[] => {
    const where = [`${by}.n < :before`, ...conditions.filter((one) => one !== false)].join(" AND ");
    const statement = db.prepare(`${selectFrom(shape, by)} WHERE ${where} ORDER BY ${by}.n DESC LIMIT :limit`);
    statement.setAllowUnknownNamedParameters(true);
    return statement.all({ before, limit, state: state ?? null, channel: channel ?? null }) as unknown as Row[];
  };
  const isIn = (column: string): string | false => channel !== undefined && `${column} = :channel`;
  const waiting = (): Row[] => rows("o", isIn("m.channel"));
  if (state === "waiting") return waiting();
  // What has a plus sign before it is no reason for SQLite to use an index.
  if (state === shape.well) return rows("e", isIn("e.channel"), "+e.state = :state");
  if (state !== undefined) return rows("e", isIn("+e.channel"), "e.state = :state", `e.state <> '${shape.well}'`);
  if (channel === undefined) return rows("m");
  return [...waiting(), ...rows("e", isIn("e.channel"))].toSorted((one, other) => other.n - one.n).slice(0, limit);
}
