/** Turns that have not ended, and how they ended. Part of the schema: once released it stays as it is, byte for byte. */
export const OPEN_TURNS_STEP = `
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
