/** The tables of approvals. Part of the schema: once released it stays as it is, byte for byte. */
export const APPROVALS_STEP = ``;
