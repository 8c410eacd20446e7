/** The table of the page's sign-ins. Part of the schema: once released it stays as it is, byte for byte. */
export const PAGE_SESSIONS_STEP = `
  -- Gone with their device, whoever removes it: a token that was taken away must not live on in a browser.
  CREATE TABLE page_sessions (
    id_hash TEXT PRIMARY KEY,
    csrf_hash TEXT NOT NULL,
    device TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
`;
