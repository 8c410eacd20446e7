/**
 * The order of conversations, and open turns, without an index that every turn writes. Part of the schema: once released it stays as
 * it is, byte for byte.
 */
export const SESSION_ACTIVITY_STEP = `
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
