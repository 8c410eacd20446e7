/**
 * What the platform calls the beginning of an answer that it has already, while the message waits, and where the answer goes out.
 * Part of the schema: once released it stays as it is, byte for byte.
 */
export const DRAFTS_STEP = `
  ALTER TABLE inbox_open ADD COLUMN draft TEXT;
  ALTER TABLE inbox_lost ADD COLUMN draft TEXT;
  ALTER TABLE outbox ADD COLUMN draft TEXT;
`;
