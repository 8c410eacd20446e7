/** The approval whose question a delivery asks. Part of the schema: once released it stays as it is, byte for byte. */
export const OUTBOX_APPROVAL_STEP = `
  ALTER TABLE outbox ADD COLUMN approval INTEGER;
`;
