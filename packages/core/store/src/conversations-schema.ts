/** What people chose in their conversations. Part of the schema: once released it stays as it is, byte for byte. */
export const CONVERSATIONS_STEP = `
  CREATE TABLE conversations (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    model TEXT NOT NULL,
    chosen_at INTEGER NOT NULL,
    PRIMARY KEY (owner, name)
  ) WITHOUT ROWID;
`;
