/** The schema, forward only. `user_version` counts the steps applied; a database with more steps than we know is refused. */
import { type Json, SvcError } from "@svc/contract";
import type { DatabaseSync } from "node:sqlite";
import { APPROVALS_STEP, LASTING_APPROVALS_STEP } from "./approvals-schema.ts";
import { CLIENT_LIMITS_STEP } from "./client-limits-schema.ts";
import { CONVERSATIONS_STEP } from "./conversations-schema.ts";
import { OUTBOX_APPROVAL_STEP } from "./messages/approval-column.ts";
import { DRAFTS_STEP } from "./messages/draft-columns.ts";
import { MESSAGES_STEP } from "./messages/schema.ts";
import { OPEN_TURNS_STEP } from "./open-turns-schema.ts";
import { LONG_PAGE_SESSIONS_STEP, PAGE_SESSIONS_STEP } from "./page-sessions-schema.ts";
import { SESSION_ACTIVITY_STEP } from "./session-activity-schema.ts";
import { SESSION_LIST_STEP } from "./session-list-schema.ts";
import { SOP_RETRIES_STEP, SOP_STEP } from "./sop-schema.ts";
import { TRACES_STEP } from "./traces-schema.ts";
import { UPLOADS_STEP } from "./uploads-schema.ts";
import { USAGE_BY_CHANNEL_STEP } from "./usage-schema.ts";
import { indexedWords, previewOf, spokenTexts, type SpokenText, titleOf } from "./turn-text.ts";

/** Exported for tests: a step that was released stays as it is, byte for byte. */
export const STEPS: readonly string[] = [
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
  `
  -- What was used, summed up: the turns themselves go with their conversations.
  CREATE TABLE usage (
    day TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    turns INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    -- Of turns whose cost is unknown, because the provider counted no tokens: what a limit of cost takes for it.
    estimated_usd REAL NOT NULL,
    unknown_cost_turns INTEGER NOT NULL,
    PRIMARY KEY (day, agent, model)
  ) WITHOUT ROWID;
  INSERT INTO usage
    SELECT date(at / 1000, 'unixepoch'), 'default', model, count(*), sum(input_tokens), sum(output_tokens),
      total(cost_usd), 0, sum(cost_usd IS NULL)
    FROM turns GROUP BY 1, 3;

  CREATE TABLE vault (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (owner, name)
  ) WITHOUT ROWID;

  ALTER TABLE tool_calls ADD COLUMN agent TEXT NOT NULL DEFAULT 'default';
  -- Appended to, once per call, in a transaction that the call needs anyway.
  CREATE INDEX tool_calls_by_start ON tool_calls (started_at);

  -- Newest turns of conversations that retention has dropped. Their chains are deleted a few turns at a time.
  CREATE TABLE dropped_chains (last_turn INTEGER PRIMARY KEY);
  `,
  MESSAGES_STEP,
  // Steps are told apart by their place: one landing makes one step.
  `${APPROVALS_STEP} ${OUTBOX_APPROVAL_STEP} ${SOP_STEP} ${PAGE_SESSIONS_STEP}`,
  `${DRAFTS_STEP} ${CONVERSATIONS_STEP}`,
  TRACES_STEP,
  LONG_PAGE_SESSIONS_STEP,
  OPEN_TURNS_STEP,
  SESSION_LIST_STEP,
  LASTING_APPROVALS_STEP,
  UPLOADS_STEP,
  USAGE_BY_CHANNEL_STEP,
  SOP_RETRIES_STEP,
  `${SESSION_ACTIVITY_STEP} ${CLIENT_LIMITS_STEP}`,
];

/** Brings the database to `to`, each step in its own transaction; tells whether any was needed. Throws STORE_NEWER. */
export function migrate(db: DatabaseSync, to: number = STEPS.length): boolean {
  const before = schemaVersion(db);
  if (before < to) addStepFunctions(db);
  for (let have = before; have !== to; have = schemaVersion(db)) {
    if (have > to) throw newer();
    db.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have taken the step while this one waited for the lock.
      if (schemaVersion(db) === have) db.exec(`${STEPS[have]} PRAGMA user_version = ${have + 1};`);
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }
  return before !== to;
}

/** What steps read out of the messages of turns. For the steps alone: nothing in the schema names a function. */
export function addStepFunctions(db: DatabaseSync): void {
  const ofMessages = (name: string, read: (spoken: readonly SpokenText[]) => string): void =>
    db.function(name, { deterministic: true, directOnly: true }, (messages) =>
      read(spokenTexts(JSON.parse(String(messages)) as Json)),
    );
  ofMessages("indexed_words", indexedWords);
  ofMessages("title_of", titleOf);
  ofMessages("preview_of", previewOf);
}

/** The schema this build writes. */
export const SCHEMA_VERSION = STEPS.length;
/** A backup of an older svc has none. */
export const FIRST_WITH_MESSAGES = 3;
export const FIRST_WITH_APPROVALS = 4;

export const schemaVersion = (db: DatabaseSync): number =>
  (db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;

export const newer = (): SvcError =>
  new SvcError("STORE_NEWER", undefined, { hint: "Install the newer svc again, or restore a backup of this version." });
