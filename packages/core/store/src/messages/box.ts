/**
 * What both boxes have in common. A message is one row that never changes; beside it stands one in `<box>_open` while it
 * waits, and one in `<box>_ended` from then on.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ErrorCode } from "@svc/contract";
import type { MessageFilter } from "../message-types.ts";

export interface BoxShape {
  readonly table: "inbox" | "outbox";
  /** What takes most of its space. */
  readonly text: string;
  /** The state in which nothing is left to do. */
  readonly well: "done" | "sent";
  /** What else is read of `m`, the message; `o`, its row while it waits; and `e`, its row from then on. */
  readonly columns: string;
}

export interface BoxRow {
  n: number;
  channel: string;
  lane: string;
  state: string;
  attempts: number;
  ended_at: number | null;
  error: ErrorCode | null;
}

export interface End {
  readonly state: string;
  readonly atMs: number;
  /** Why; without one the last attempt's reason stays. */
  readonly error?: ErrorCode | undefined;
  /** How many to add to those that failed before. */
  readonly failedAttempts?: number;
}

/** Most that one step of retention deletes: the pages of what is deleted are read. */
const STEP = { rows: 200, bytes: 1_048_576 } as const;

export class Box<Row extends BoxRow> {
  readonly #well: string;
  readonly #open;
  readonly #end;
  readonly #close;
  readonly #reopen;
  readonly #read;
  readonly #lists;
  readonly #counts;
  readonly #oldEnds;
  readonly #forget;
  readonly #delete;

  constructor(db: DatabaseSync, shape: BoxShape) {
    const { table, well } = shape;
    this.#well = well;
    this.#open = db.prepare(`INSERT INTO ${table}_open (n) VALUES (?)`);
    this.#end = db.prepare(
      `INSERT INTO ${table}_ended (n, state, attempts, error, ended_at)
       SELECT n, ?1, attempts + ?2, iif(?1 = '${well}', NULL, coalesce(?3, error)), ?4 FROM ${table}_open WHERE n = ?5`,
    );
    this.#close = db.prepare(`DELETE FROM ${table}_open WHERE n = ?`);
    this.#reopen = db.prepare(`DELETE FROM ${table}_ended WHERE n = ? AND state <> '${well}'`);
    this.#read = db.prepare(`${select(shape, "m")} WHERE m.n = ?`);
    this.#lists = lists(db, shape);
    this.#counts = db.prepare(
      `SELECT 'waiting' AS state, count(*) AS n FROM ${table}_open
       UNION ALL SELECT state, count(*) FROM ${table}_ended WHERE state <> '${well}' GROUP BY state
       UNION ALL SELECT 'ended', count(*) FROM ${table}_ended`,
    );
    // The newest stays, or its number would be given to the next one.
    this.#oldEnds = db.prepare(
      `SELECT n FROM ${table}_ended WHERE ended_at < ? AND n < (SELECT max(n) FROM ${table}) ORDER BY ended_at LIMIT ${STEP.rows}`,
    );
    this.#forget = db.prepare(`DELETE FROM ${table}_ended WHERE n = ?`);
    this.#delete = db.prepare(
      `DELETE FROM ${table} WHERE n = ? RETURNING turn_id AS turnId, octet_length(${shape.text}) AS size`,
    );
  }

  /** A new message waits. */
  open(n: number): void {
    this.#open.run(n);
  }

  /** Tells whether it waited. */
  end(n: number, { state, atMs, error, failedAttempts = 0 }: End): boolean {
    const { changes } = this.#end.run(state, failedAttempts, error ?? null, atMs, n);
    if (Number(changes) === 0) return false;
    this.#close.run(n);
    return true;
  }

  /** Tells whether it had ended, but not well. It waits again, as if it had never been tried. */
  reopen(n: number): boolean {
    if (Number(this.#reopen.run(n).changes) === 0) return false;
    this.#open.run(n);
    return true;
  }

  read(n: number): Row | undefined {
    return this.#read.get(n) as unknown as Row | undefined;
  }

  /** Newest first. */
  list({ state, channel, before = Number.MAX_SAFE_INTEGER }: MessageFilter, limit: number): Row[] {
    const { all, waiting, well, unwell } = this.#lists;
    const page = [before, channel ?? null, limit] as const;
    const rows = (statement: StatementSync, ...more: string[]): Row[] =>
      statement.all(...page, ...more) as unknown as Row[];
    if (state === undefined) return rows(all);
    if (state === "waiting") return rows(waiting);
    return state === this.#well ? rows(well) : rows(unwell, state);
  }

  /** Deletes some of those that ended before `beforeMs`, the oldest first; tells which. */
  dropEnded(beforeMs: number): Gone[] {
    const gone: Gone[] = [];
    let bytes = 0;
    for (const { n } of this.#oldEnds.all(beforeMs) as { n: number }[]) {
      if (bytes > STEP.bytes) break;
      this.#forget.run(n);
      const { turnId, size } = this.#delete.get(n) as { turnId: string | null; size: number };
      gone.push({ n, turnId });
      bytes += size;
    }
    return gone;
  }

  /** By state; a state without a message may be missing. */
  counts(): Record<string, number> {
    const rows = this.#counts.all() as { state: string; n: number }[];
    const { waiting = 0, ended = 0, ...unwell } = Object.fromEntries(rows.map(({ state, n }) => [state, n]));
    return { ...unwell, waiting, [this.#well]: Object.values(unwell).reduce((left, n) => left - n, ended) };
  }
}

/** Of a message that is deleted. */
export interface Gone {
  readonly n: number;
  readonly turnId: string | null;
}

/** Each walks the rows it lists: a million answered messages do not stand in the way of one that failed. */
function lists(db: DatabaseSync, shape: BoxShape): Record<"all" | "waiting" | "well" | "unwell", StatementSync> {
  const page = (by: string, where: string): string =>
    `${select(shape, by)} WHERE ${by}.n < ?1 AND (?2 IS NULL OR m.channel = ?2) AND ${where} ORDER BY ${by}.n DESC LIMIT ?3`;
  return {
    all: db.prepare(page("m", "true")),
    waiting: db.prepare(page("o", "true")),
    well: db.prepare(page("e", `+e.state = '${shape.well}'`)),
    unwell: db.prepare(page("e", `e.state = ?4 AND e.state <> '${shape.well}'`)),
  };
}

/** Messages as far as they have a row in `by`. */
function select({ table, columns }: BoxShape, by: string): string {
  const tables = { m: table, o: `${table}_open`, e: `${table}_ended` };
  const others = Object.entries(tables).filter(([name]) => name !== by);
  const joins = others.map(([name, each]) => `LEFT JOIN ${each} AS ${name} ON ${name}.n = ${by}.n`);
  return `
    SELECT m.n AS n, m.channel AS channel, m.lane AS lane, coalesce(e.state, 'waiting') AS state,
      coalesce(e.attempts, o.attempts) AS attempts, e.ended_at AS ended_at, coalesce(e.error, o.error) AS error, ${columns}
    FROM ${tables[by as keyof typeof tables]} AS ${by} ${joins.join(" ")}`;
}
