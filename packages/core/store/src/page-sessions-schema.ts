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

/**
 * Long-lived sign-ins: the second secret follows from the cookie, and each sign-in is listed by an id of its own. Older
 * sign-ins lasted twelve hours and say too little about their browser; each page signs in once more.
 */
export const LONG_PAGE_SESSIONS_STEP = `
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
