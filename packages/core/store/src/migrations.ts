/** The schema, forward only. `user_version` counts the steps applied; a database with more steps than we know is refused. */
import { SvcError } from "@svc/contract";
import type { DatabaseSync } from "node:sqlite";

const STEPS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE devices (
    id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    client_id TEXT NOT NULL,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER
  ) WITHOUT ROWID;

  CREATE TABLE sessions (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    client_id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    last_turn INTEGER NOT NULL,
    UNIQUE (client_id, name)
  );
  CREATE INDEX sessions_by_activity ON sessions (last_turn);

  -- Appended to and chained: each turn names the one before it in its session. An index by session would make every
  -- commit rewrite a page for each session that spoke, which costs five times the bytes (bench/README.md).
  CREATE TABLE turns (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    previous INTEGER,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    messages TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL
  );

  CREATE TABLE tool_calls (
    turn_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    acting INTEGER NOT NULL,
    input TEXT NOT NULL,
    state TEXT NOT NULL,
    output TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (turn_id, call_id)
  ) WITHOUT ROWID;

  CREATE TABLE idempotency (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    state TEXT NOT NULL,
    UNIQUE (scope, key)
  );
  CREATE INDEX idempotency_by_age ON idempotency (expires_at);
  `,
];

/** Brings the database to the newest schema, each step in its own transaction. Throws STORE_NEWER. */
export function migrate(db: DatabaseSync): void {
  const have = (db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  if (have > STEPS.length) {
    throw new SvcError("STORE_NEWER", undefined, {
      hint: "Install the newer svc again, or restore a backup of this version.",
    });
  }
  for (let step = have; step < STEPS.length; step += 1) {
    db.exec(`BEGIN IMMEDIATE; ${STEPS[step]} PRAGMA user_version = ${step + 1}; COMMIT;`);
  }
}
