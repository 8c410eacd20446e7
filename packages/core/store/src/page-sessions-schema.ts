/** The table of the page's sign-ins. Part of the schema: once released it stays as it is, byte for byte. */
export const PAGE_SESSIONS_STEP = ``;
