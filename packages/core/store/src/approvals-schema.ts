/** The tables of approvals. Part of the schema: once released it stays as it is, byte for byte. */
export const APPROVALS_STEP = `
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
export const LASTING_APPROVALS_STEP = `
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
