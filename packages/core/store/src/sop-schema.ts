/** The tables of procedures' runs and of the audit log. Part of the schema: once released it stays as it is, byte for byte. */
export const SOP_STEP = `
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
export const SOP_RETRIES_STEP = `
  ALTER TABLE sop_runs ADD COLUMN test INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sop_runs ADD COLUMN retry_of TEXT;
  ALTER TABLE sop_runs ADD COLUMN first_step INTEGER NOT NULL DEFAULT 1;
`;
