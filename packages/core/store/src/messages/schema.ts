/** The tables of messages. Part of the schema: once released it stays as it is, byte for byte. */
export const MESSAGES_STEP = `
  -- Appended to and never changed: to note in the row itself how it ended would write its page, text and all, again.
  CREATE TABLE inbox (
    n INTEGER PRIMARY KEY,
    turn_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    kind TEXT NOT NULL,
    lane TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    body TEXT NOT NULL
  );
  -- A row for each that waits or runs; all that a start has to read.
  CREATE TABLE inbox_open (
    n INTEGER PRIMARY KEY,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    begun INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0
  );
  -- A row for each of the others.
  CREATE TABLE inbox_ended (
    n INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT,
    ended_at INTEGER NOT NULL
  );
  CREATE INDEX inbox_by_channel ON inbox_ended (channel);
  CREATE INDEX inbox_unanswered ON inbox_ended (state) WHERE state <> 'done';
  -- Ended by a start, for the process had died of them; their senders are not told yet.
  CREATE TABLE inbox_lost (n INTEGER PRIMARY KEY);

  CREATE TABLE outbox (
    n INTEGER PRIMARY KEY,
    delivery_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    chat TEXT NOT NULL,
    thread TEXT,
    lane TEXT NOT NULL,
    turn_id TEXT,
    key TEXT,
    created_at INTEGER NOT NULL,
    files TEXT NOT NULL,
    reply_data TEXT,
    text TEXT NOT NULL
  );
  CREATE UNIQUE INDEX outbox_by_key ON outbox (key) WHERE key IS NOT NULL;
  CREATE INDEX outbox_by_turn ON outbox (turn_id) WHERE turn_id IS NOT NULL;
  CREATE TABLE outbox_open (
    n INTEGER PRIMARY KEY,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    not_before INTEGER NOT NULL DEFAULT 0,
    begun INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE outbox_ended (
    n INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT,
    ended_at INTEGER NOT NULL,
    platform_id TEXT,
    platform_status TEXT,
    platform_reason TEXT
  );
  CREATE INDEX outbox_by_channel ON outbox_ended (channel);
  CREATE INDEX outbox_undelivered ON outbox_ended (state) WHERE state <> 'sent';
  CREATE INDEX outbox_by_platform_id ON outbox_ended (platform_id) WHERE platform_id IS NOT NULL;

  CREATE TABLE ended_well (box TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE steps (
    turn_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (turn_id, n)
  ) WITHOUT ROWID;

  -- Digests of what was seen before: first a row for each commit, then blocks of some thousands.
  CREATE TABLE seen_recent (n INTEGER PRIMARY KEY, expires_at INTEGER NOT NULL, entries BLOB NOT NULL);
  CREATE TABLE seen_blocks (n INTEGER PRIMARY KEY, expires_at INTEGER NOT NULL, filter BLOB NOT NULL);
  CREATE TABLE seen_rows (n INTEGER PRIMARY KEY, entries BLOB NOT NULL);

  CREATE TABLE sequences (
    n INTEGER PRIMARY KEY,
    expires_at INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    lane TEXT NOT NULL
  );
  CREATE INDEX sequences_by_age ON sequences (expires_at);
  CREATE TABLE floors (lane TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;

  -- What a start looks for among all the calls of a month.
  CREATE INDEX tool_calls_started ON tool_calls (turn_id) WHERE state = 'started';

  CREATE TABLE state (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (owner, name)
  ) WITHOUT ROWID;
`;

/** The approval whose question a delivery asks. Part of the schema: once released it stays as it is, byte for byte. */
export const OUTBOX_APPROVAL_STEP = `
  ALTER TABLE outbox ADD COLUMN approval INTEGER;
`;

/**
 * What the platform calls the beginning of an answer that it has already, while the message waits, and where the answer goes out.
 * Part of the schema: once released it stays as it is, byte for byte.
 */
export const DRAFTS_STEP = `
  ALTER TABLE inbox_open ADD COLUMN draft TEXT;
  ALTER TABLE inbox_lost ADD COLUMN draft TEXT;
  ALTER TABLE outbox ADD COLUMN draft TEXT;
`;

/** The name that the code uses for a conversation's key. Part of the schema: once released it stays as it is, byte for byte. */
export const CONVERSATION_KEYS_STEP = `
  ALTER TABLE inbox RENAME COLUMN lane TO conversation_key;
  ALTER TABLE outbox RENAME COLUMN lane TO conversation_key;
  ALTER TABLE sequences RENAME COLUMN lane TO conversation_key;
  ALTER TABLE floors RENAME COLUMN lane TO conversation_key;
`;
