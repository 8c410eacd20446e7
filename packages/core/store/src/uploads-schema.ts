/** The table of files that come with messages. Part of the schema: once released it stays as it is, byte for byte. */
export const UPLOADS_STEP = `
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
