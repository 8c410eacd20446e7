/** The schema, forward only. `user_version` counts the steps applied; a database with more steps than we know is refused. */
import { type Json, SvcError } from "@svc/contract";
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { CONVERSATION_KEYS_STEP, DRAFTS_STEP, MESSAGES_STEP, OUTBOX_APPROVAL_STEP } from "../messages/schema.ts";
import { type SpokenText, indexedWords, previewOf, spokenTexts, titleOf } from "../sessions/search-index.ts";

/** The tables of procedures' runs and of the audit log. Part of the schema: once released it stays as it is, byte for byte. */
const SOP_STEP = `
  -- Many runs have the same one.
  CREATE TABLE sop_definitions (n INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, definition TEXT NOT NULL);
  -- Appended to and never changed: to note in the row itself how far it is would write its page, payload and all, again.
  CREATE TABLE sop_runs (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    sop TEXT NOT NULL,
    definition INTEGER NOT NULL,
    mode TEXT NOT NULL,
    source TEXT NOT NULL,
    topic TEXT NOT NULL,
    started_by TEXT NOT NULL,
    started_by_agent TEXT,
    key TEXT,
    fence TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    payload TEXT
  );
  CREATE INDEX sop_runs_by_sop ON sop_runs (sop);
  CREATE INDEX sop_runs_by_definition ON sop_runs (definition);
  CREATE UNIQUE INDEX sop_runs_by_key ON sop_runs (key) WHERE key IS NOT NULL;
  -- A row for each that has not ended; all that a start has to read.
  CREATE TABLE sop_active (n INTEGER PRIMARY KEY, sop TEXT NOT NULL, status TEXT NOT NULL, step INTEGER NOT NULL);
  CREATE INDEX sop_active_by_sop ON sop_active (sop);
  -- A row for each of the others.
  CREATE TABLE sop_ended (
    n INTEGER PRIMARY KEY,
    sop TEXT NOT NULL,
    status TEXT NOT NULL,
    step INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    error TEXT,
    reason TEXT
  );
  CREATE INDEX sop_ended_by_status ON sop_ended (status);
  CREATE INDEX sop_ended_by_sop ON sop_ended (sop, status);
  -- Where cooldowns count from; outlives the runs.
  CREATE TABLE sop_last_ends (sop TEXT PRIMARY KEY, ended_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE sop_steps (
    run_n INTEGER NOT NULL,
    step INTEGER NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    output TEXT,
    PRIMARY KEY (run_n, step)
  ) WITHOUT ROWID;

  -- Appended to and never changed, and nothing of it is ever deleted.
  CREATE TABLE audit (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL, hash TEXT NOT NULL);
`;

/** Test runs, and runs that go on from a step of an earlier one. */
const SOP_RETRIES_STEP = `
  ALTER TABLE sop_runs ADD COLUMN test INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sop_runs ADD COLUMN retry_of TEXT;
  ALTER TABLE sop_runs ADD COLUMN first_step INTEGER NOT NULL DEFAULT 1;
`;

/** The tables of approvals. Part of the schema: once released it stays as it is, byte for byte. */
const APPROVALS_STEP = `
  -- AUTOINCREMENT: people call it by its number, and that of a deleted one must not mean another.
  CREATE TABLE approvals (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    step_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'waiting',
    digest BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    asked_by TEXT NOT NULL,
    approve_keywords TEXT NOT NULL,
    reject_keywords TEXT NOT NULL,
    channels TEXT NOT NULL,
    title TEXT NOT NULL,
    message TEXT NOT NULL,
    event_id TEXT,
    ended_at INTEGER,
    ended_by TEXT,
    via TEXT,
    feedback TEXT,
    UNIQUE (run_id, step_id)
  );
  CREATE INDEX approvals_by_status ON approvals (status);
  CREATE INDEX approvals_by_expiry ON approvals (expires_at) WHERE status = 'waiting';
  CREATE INDEX approvals_by_end ON approvals (ended_at) WHERE ended_at IS NOT NULL;

  -- Where each was asked, by the outbox row that asks. Answers are looked for among the open ones only, which are few.
  CREATE TABLE approval_prompts (
    delivery INTEGER PRIMARY KEY,
    approval INTEGER NOT NULL,
    is_open INTEGER NOT NULL DEFAULT 1,
    channel TEXT NOT NULL,
    chat TEXT NOT NULL,
    thread TEXT,
    opened_chat TEXT,
    opened_thread TEXT
  );
  CREATE INDEX approval_prompts_of ON approval_prompts (approval);
  CREATE INDEX approval_prompts_in ON approval_prompts (channel, chat) WHERE is_open = 1;
  CREATE INDEX approval_prompts_opened ON approval_prompts (channel, opened_chat) WHERE is_open = 1 AND opened_chat IS NOT NULL;
`;

/** What a tool call asks for and for how long a yes may hold, and the yeses that hold for the rest of a conversation. */
const LASTING_APPROVALS_STEP = `
  ALTER TABLE approvals ADD COLUMN detail TEXT;
  ALTER TABLE approvals ADD COLUMN offers TEXT;
  ALTER TABLE approvals ADD COLUMN held TEXT;

  CREATE TABLE grants (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    sender TEXT NOT NULL,
    agent TEXT NOT NULL,
    key TEXT NOT NULL,
    approval INTEGER NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (owner, name, sender, agent, key)
  ) WITHOUT ROWID;
`;

/**
 * How conversations are listed and found. Part of the schema: once released it stays as it is, byte for byte. The functions
 * are those of `migrate`.
 */
const SESSION_LIST_STEP = `
  ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';
  -- words: the first ones that were said; model; person.
  ALTER TABLE sessions ADD COLUMN titled_by TEXT NOT NULL DEFAULT 'words';
  ALTER TABLE sessions ADD COLUMN preview TEXT NOT NULL DEFAULT '';
  -- How many of its turns an operator has seen.
  ALTER TABLE sessions ADD COLUMN turns_read INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN pinned_at INTEGER;
  ALTER TABLE sessions ADD COLUMN archived_at INTEGER;
  -- Row numbers of sessions are used again: older turns of that number are of one that was removed.
  ALTER TABLE sessions ADD COLUMN first_turn INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX sessions_pinned ON sessions (last_turn) WHERE pinned_at IS NOT NULL;

  -- By the row number of the turn. It holds words that are folded already, with spaces between them.
  CREATE VIRTUAL TABLE turn_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
  INSERT INTO turn_words (rowid, words) SELECT n, indexed_words(messages) FROM turns;

  UPDATE sessions SET first_turn = first.n, title = first.title
    FROM (SELECT t.session, max(t.n) AS n, title_of(t.messages) AS title FROM turns AS t
      JOIN sessions AS s ON s.n = t.session AND t.n <= s.last_turn WHERE t.previous IS NULL GROUP BY t.session) AS first
    WHERE first.session = sessions.n;
  UPDATE sessions SET turns_read = turns,
    preview = coalesce((SELECT preview_of(t.messages) FROM turns AS t WHERE t.n = sessions.last_turn), '');

  -- What was chosen: the agent beside the model. An empty model: whatever the config says.
  ALTER TABLE conversations ADD COLUMN agent TEXT;
`;

/** The table of the page's sign-ins. Part of the schema: once released it stays as it is, byte for byte. */
const PAGE_SESSIONS_STEP = `
  -- Gone with their device, whoever removes it: a token that was taken away must not live on in a browser.
  CREATE TABLE page_sessions (
    id_hash TEXT PRIMARY KEY,
    csrf_hash TEXT NOT NULL,
    device TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
`;

/**
 * Long-lived sign-ins: the second secret follows from the cookie, and each sign-in is listed by an id of its own. Older
 * sign-ins lasted twelve hours and say too little about their browser; each page signs in once more.
 */
const LONG_PAGE_SESSIONS_STEP = `
  DROP TABLE page_sessions;
  CREATE TABLE page_sessions (
    id_hash TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    device TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    browser TEXT NOT NULL,
    secure INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
`;

/**
 * The order of conversations, and open turns, without an index that every turn writes. Part of the schema: once released it stays as
 * it is, byte for byte.
 */
const SESSION_ACTIVITY_STEP = `
  DROP INDEX sessions_by_activity;
  -- The value of last_turn when its place in the list was written; 0: not yet. See session-activity.ts.
  ALTER TABLE sessions ADD COLUMN listed_turn INTEGER NOT NULL DEFAULT 0;
  UPDATE sessions SET listed_turn = last_turn;
  CREATE INDEX sessions_listed ON sessions (listed_turn) WHERE listed_turn > 0;

  -- Without an index by turn: a turn is found by its row number.
  CREATE TABLE waiting_turns (
    n INTEGER PRIMARY KEY,
    turn_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    session_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    meta TEXT
  );
  INSERT INTO waiting_turns SELECT * FROM open_turns ORDER BY n;
  DROP TABLE open_turns;
  ALTER TABLE waiting_turns RENAME TO open_turns;
`;

/** Turns that have not ended, and how they ended. Part of the schema: once released it stays as it is, byte for byte. */
const OPEN_TURNS_STEP = `
  -- A row for each message that was sent and whose turn has not ended: what a kill leaves behind.
  CREATE TABLE open_turns (
    n INTEGER PRIMARY KEY,
    turn_id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    session_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    meta TEXT
  );
  -- Written again and again while an answer comes; apart, or the message would be written with it each time.
  CREATE TABLE open_answers (
    turn_id TEXT PRIMARY KEY,
    step INTEGER NOT NULL,
    text TEXT NOT NULL
  ) WITHOUT ROWID;

  ALTER TABLE turns ADD COLUMN state TEXT NOT NULL DEFAULT 'done';
  -- A later attempt at the same message took its place: shown to people, and to no model.
  ALTER TABLE turns ADD COLUMN replaced INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE turns ADD COLUMN meta TEXT;
`;

/** Usage by channel. Part of the schema: once released it stays as it is, byte for byte. */
const USAGE_BY_CHANNEL_STEP = `
  CREATE TABLE usage_by_channel (
    day TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    -- Empty: not the answer to a channel's message, or from before this was counted.
    channel TEXT NOT NULL,
    turns INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    estimated_usd REAL NOT NULL,
    unknown_cost_turns INTEGER NOT NULL,
    PRIMARY KEY (day, agent, model, channel)
  ) WITHOUT ROWID;
  INSERT INTO usage_by_channel
    SELECT day, agent, model, '', turns, input_tokens, output_tokens, cost_usd, estimated_usd, unknown_cost_turns
    FROM usage;
  DROP TABLE usage;
  ALTER TABLE usage_by_channel RENAME TO usage;
`;

/** The table of files that come with messages. Part of the schema: once released it stays as it is, byte for byte. */
const UPLOADS_STEP = `
  -- A file that was uploaded. It has a turn and a place in a workspace once a message was sent with it.
  CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    size INTEGER NOT NULL,
    at INTEGER NOT NULL,
    session_owner TEXT,
    session TEXT,
    turn_id TEXT,
    agent TEXT,
    path TEXT
  ) WITHOUT ROWID;
  CREATE INDEX uploads_unsent ON uploads (owner, at) WHERE turn_id IS NULL;
  CREATE INDEX uploads_sent ON uploads (session_owner, session) WHERE turn_id IS NOT NULL;
`;

/** What limits per client count by. Part of the schema: once released it stays as it is, byte for byte. */
const CLIENT_LIMITS_STEP = `
  -- What each client spent of an agent on a day, estimates included.
  CREATE TABLE client_usage (
    day TEXT NOT NULL,
    agent TEXT NOT NULL,
    client TEXT NOT NULL,
    -- Channel of a person; empty: it came no such way.
    channel TEXT NOT NULL,
    spent_usd REAL NOT NULL,
    PRIMARY KEY (day, agent, client)
  ) WITHOUT ROWID;

  -- Empty: a call from before clients were counted.
  ALTER TABLE tool_calls ADD COLUMN client TEXT NOT NULL DEFAULT '';
`;

/**
 * What a message and a run of a procedure are part of, as a W3C `traceparent` (https://www.w3.org/TR/trace-context/): a trace
 * goes on over a restart. NULL where nobody traces. Part of the schema: once released it stays as it is, byte for byte.
 */
const TRACES_STEP = `
  ALTER TABLE inbox ADD COLUMN traceparent TEXT;
  -- Of its wait, once its first attempt has begun.
  ALTER TABLE inbox_open ADD COLUMN traceparent TEXT;
  ALTER TABLE inbox_lost ADD COLUMN traceparent TEXT;
  ALTER TABLE outbox ADD COLUMN traceparent TEXT;
  ALTER TABLE sop_runs ADD COLUMN traceparent TEXT;
`;

/** What people chose in their conversations. Part of the schema: once released it stays as it is, byte for byte. */
const CONVERSATIONS_STEP = `
  CREATE TABLE conversations (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    model TEXT NOT NULL,
    chosen_at INTEGER NOT NULL,
    PRIMARY KEY (owner, name)
  ) WITHOUT ROWID;
`;

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
  CONVERSATION_KEYS_STEP,
];

/** Brings the database to `to`, an older one with a transaction for each step; tells whether any was needed. Throws STORE_NEWER. */
export function migrate(db: DatabaseSync, to: number = STEPS.length): boolean {
  const before = schemaVersion(db);
  if (before < to) addStepFunctions(db);
  for (let have = before; have !== to; have = schemaVersion(db)) {
    if (have > to) throw newer();
    db.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have taken the step while this one waited for the lock.
      if (schemaVersion(db) === have) {
        // An empty database takes all of them at once: each commit waits for the disk.
        const next = have === 0 ? to : have + 1;
        db.exec(`${STEPS.slice(have, next).join("\n")} PRAGMA user_version = ${next};`);
      }
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }
  return before !== to;
}

/**
 * Whether the schema is, text for text, what the steps make of an empty database. A sound one can differ: an older SQLite wrote
 * altered tables and those of the search index in other words.
 */
export function isNewestSchema(db: DatabaseSync): boolean {
  const texts = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  return createHash("sha256").update(JSON.stringify(texts)).digest("base64url") === NEWEST_SCHEMA;
}

/** A new step changes it; its test names the new value. */
export const NEWEST_SCHEMA = "5r7kM_s7DnwtP6aDAPorQzABT5rXqH6paxTQKJpB5NI";

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
