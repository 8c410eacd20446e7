/** The tables of procedures' runs and of the audit log. Part of the schema: once released it stays as it is, byte for byte. */
export const SOP_STEP = ``;
