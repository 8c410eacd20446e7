/**
 * How conversations are listed and found. Part of the schema: once released it stays as it is, byte for byte. The functions
 * are those of `migrate`.
 */
export const SESSION_LIST_STEP = `
  ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';
  -- words: the first ones that were said; model; person.
  ALTER TABLE sessions ADD COLUMN titled_by TEXT NOT NULL DEFAULT 'words';
  ALTER TABLE sessions ADD COLUMN preview TEXT NOT NULL DEFAULT '';
  -- How many of its turns an operator has seen.
  ALTER TABLE sessions ADD COLUMN turns_read INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN pinned_at INTEGER;
  ALTER TABLE sessions ADD COLUMN archived_at INTEGER;
  -- Row numbers of sessions are used again: older turns of that number are of one that was removed.
  ALTER TABLE sessions ADD COLUMN first_turn INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX sessions_pinned ON sessions (last_turn) WHERE pinned_at IS NOT NULL;

  -- By the row number of the turn. It holds words that are folded already, with spaces between them.
  CREATE VIRTUAL TABLE turn_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
  INSERT INTO turn_words (rowid, words) SELECT n, indexed_words(messages) FROM turns;

  UPDATE sessions SET first_turn = first.n, title = first.title
    FROM (SELECT t.session, max(t.n) AS n, title_of(t.messages) AS title FROM turns AS t
      JOIN sessions AS s ON s.n = t.session AND t.n <= s.last_turn WHERE t.previous IS NULL GROUP BY t.session) AS first
    WHERE first.session = sessions.n;
  UPDATE sessions SET turns_read = turns,
    preview = coalesce((SELECT preview_of(t.messages) FROM turns AS t WHERE t.n = sessions.last_turn), '');

  -- What was chosen: the agent beside the model. An empty model: whatever the config says.
  ALTER TABLE conversations ADD COLUMN agent TEXT;
`;
