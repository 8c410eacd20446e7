/** What the database has in the end, read as it lies there: no code of the service stands between. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export interface StoredMessage {
  readonly n: number;
  readonly turnId: string;
  readonly channel: string;
  readonly kind: string;
  readonly queue: string;
  readonly text: string;
  /** Null while it waits. */
  readonly state: string | null;
  readonly error: string | null;
}

export interface StoredDelivery {
  readonly n: number;
  readonly turnId: string | null;
  readonly channel: string;
  readonly queue: string;
  readonly text: string;
  /** Null while it waits. */
  readonly state: string | null;
  readonly error: string | null;
}

export interface StoredTurn {
  readonly id: string;
  /** Name of its session. */
  readonly queue: string;
}

export interface StoredCall {
  readonly turnId: string;
  readonly tool: string;
  readonly input: string;
  readonly state: string;
}

export interface StoredState {
  /** In the order of arrival. */
  readonly messages: readonly StoredMessage[];
  /** In the order in which they were written. */
  readonly deliveries: readonly StoredDelivery[];
  /** In the order in which they ended. */
  readonly turns: readonly StoredTurn[];
  readonly calls: readonly StoredCall[];
  /** What nothing is left of when all is over: rows by table. */
  readonly leftOver: Readonly<Record<string, number>>;
  /** What SQLite says of itself. */
  readonly integrity: readonly string[];
}

export const databaseOf = (home: string): string => join(home, "state", "svc.db");

export function readDatabase(home: string): StoredState {
  using db = new DatabaseSync(databaseOf(home), { readOnly: true });
  const all = <Row>(sql: string): Row[] => db.prepare(sql).all() as Row[];
  return {
    messages:
      all(`SELECT m.n, turn_id AS turnId, m.channel, kind, conversation_key AS queue, coalesce(json_extract(body, '$.text'), '') AS text,
        e.state, coalesce(e.error, o.error) AS error
      FROM inbox AS m LEFT JOIN inbox_ended AS e USING (n) LEFT JOIN inbox_open AS o USING (n) ORDER BY m.n`),
    deliveries:
      all(`SELECT m.n, turn_id AS turnId, m.channel, conversation_key AS queue, text, e.state, coalesce(e.error, o.error) AS error
      FROM outbox AS m LEFT JOIN outbox_ended AS e USING (n) LEFT JOIN outbox_open AS o USING (n) ORDER BY m.n`),
    turns: all(`SELECT t.id, s.name AS queue FROM turns AS t JOIN sessions AS s ON s.n = t.session ORDER BY t.n`),
    calls: all(`SELECT turn_id AS turnId, tool, input, state FROM tool_calls ORDER BY started_at`),
    leftOver: Object.fromEntries(
      ["inbox_open", "outbox_open", "inbox_lost", "steps"].map((table) => [
        table,
        all<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)[0]!.count,
      ]),
    ),
    integrity: all<Record<string, string>>("PRAGMA integrity_check").map((row) => Object.values(row)[0]!),
  };
}
