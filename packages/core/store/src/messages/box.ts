/**
 * What both boxes have in common. A message is one row that never changes; beside it stands one in `<box>_open` while it
 * waits, and one in `<box>_ended` from then on.
 */
import type { DatabaseSync } from "node:sqlite";
import type { ErrorCode } from "@svc/contract";
import { rowOf } from "../rows.ts";

export interface BoxShape {
  readonly table: "inbox" | "outbox";
  /** The state in which nothing is left to do. */
  readonly well: "done" | "sent";
  /** What takes most of its space. */
  readonly text: string;
  /** What else is read of `m`, the message; `o`, its row while it waits; and `e`, its row from then on. */
  readonly columns: string;
}

export interface BoxRow {
  n: number;
  channel: string;
  conversation_key: string;
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

export class Box<Row extends BoxRow> {
  readonly #shape: BoxShape;
  readonly #tally: Tally;
  readonly #open;
  readonly #end;
  readonly #close;
  readonly #reopen;
  readonly #read;
  readonly #counts;

  constructor(db: DatabaseSync, shape: BoxShape, tally: Tally) {
    const { table, well } = shape;
    this.#shape = shape;
    this.#tally = tally;
    this.#open = db.prepare(`INSERT INTO ${table}_open (n) VALUES (?)`);
    this.#end = db.prepare(
      `INSERT INTO ${table}_ended (n, channel, state, attempts, error, ended_at)
       SELECT n, channel, ?1, attempts + ?2, iif(?1 = '${well}', NULL, coalesce(?3, error)), ?4
       FROM ${table}_open JOIN ${table} USING (n) WHERE n = ?5`,
    );
    this.#close = db.prepare(`DELETE FROM ${table}_open WHERE n = ?`);
    this.#reopen = db.prepare(`DELETE FROM ${table}_ended WHERE n = ? AND state <> '${well}'`);
    this.#read = db.prepare(`${selectFrom(shape, "m")} WHERE m.n = ?`);
    this.#counts = db.prepare(
      `SELECT 'waiting' AS state, count(*) AS n FROM ${table}_open
       UNION ALL SELECT state, count(*) FROM ${table}_ended WHERE state <> '${well}' GROUP BY state`,
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
    if (state === this.#shape.well) this.#tally.add(this.#shape.table, 1);
    return true;
  }

  /** Tells whether it had ended, but not well. It waits again, as if it had never been tried. */
  reopen(n: number): boolean {
    if (Number(this.#reopen.run(n).changes) === 0) return false;
    this.#open.run(n);
    return true;
  }

  read(n: number): Row | undefined {
    return rowOf<Row>(this.#read.get(n));
  }

  /** By state; a state without a message may be missing. */
  counts(): Record<string, number> {
    const rows = this.#counts.all() as { state: string; n: number }[];
    const { table, well } = this.#shape;
    return { ...Object.fromEntries(rows.map(({ state, n }) => [state, n])), [well]: this.#tally.of(table) };
  }
}

/** Messages as far as they have a row in `by`. */
export function selectFrom({ table, columns }: BoxShape, by: "m" | "o" | "e"): string {
  const tables = { m: table, o: `${table}_open`, e: `${table}_ended` };
  const others = Object.entries(tables).filter(([name]) => name !== by);
  const joins = others.map(([name, each]) => `LEFT JOIN ${each} AS ${name} ON ${name}.n = ${by}.n`);
  return `
    SELECT m.n AS n, m.channel AS channel, m.conversation_key AS conversation_key, coalesce(e.state, 'waiting') AS state,
      coalesce(e.attempts, o.attempts) AS attempts, e.ended_at AS ended_at, coalesce(e.error, o.error) AS error, ${columns}
    FROM ${tables[by]} AS ${by} ${joins.join(" ")}`;
}

/** How many messages ended well: a number kept by hand, because to count a million of them takes 30 ms. */
type BoxName = "inbox" | "outbox";

export class Tally {
  /** Of the open transaction. */
  #added: Record<BoxName, number> = { inbox: 0, outbox: 0 };
  readonly #changed: () => void;
  readonly #read;
  readonly #write;

  /** `changed`: the open transaction has something that `flush` must write. */
  constructor(db: DatabaseSync, changed: () => void) {
    this.#changed = changed;
    this.#read = db.prepare("SELECT n FROM ended_well WHERE box = ?");
    this.#write = db.prepare("INSERT INTO ended_well VALUES (?, ?) ON CONFLICT (box) DO UPDATE SET n = n + excluded.n");
  }

  of(box: BoxName): number {
    return ((this.#read.get(box) as { n: number } | undefined)?.n ?? 0) + this.#added[box];
  }

  /** Inside a transaction. */
  add(box: BoxName, count: number): void {
    this.#added[box] += count;
    this.#changed();
  }

  /** Before a commit: writes what its transaction added. */
  flush(): void {
    for (const box of ["inbox", "outbox"] as const) if (this.#added[box] !== 0) this.#write.run(box, this.#added[box]);
    this.discard();
  }

  /** The transaction was undone. */
  discard(): void {
    this.#added = { inbox: 0, outbox: 0 };
  }
}
