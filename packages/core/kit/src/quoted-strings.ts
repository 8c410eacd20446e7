/**
 * A header with `instead` in the place of each quoted string (RFC 9110 section 5.6.4), in which a sender may write anything. One
 * that is never closed stays as it is: it is no quoted string, and none begins inside it.
 */
export const replaceQuoted = (header: string, instead: string): string =>
  header.replaceAll(/"(?:[^"\\]|\\[^])*("|\\?$)/g, (quoted, end) => (end === '"' ? instead : quoted));
