/** What limits per client count by. Part of the schema: once released it stays as it is, byte for byte. */
export const CLIENT_LIMITS_STEP = `
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
