/**
 * A word for a line of the shell. POSIX.1-2017, Shell Command Language 2.2.2: between single quotes every character but the quote
 * itself is itself.
 */
export const shellWord = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
