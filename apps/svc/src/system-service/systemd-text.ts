/**
 * Text inside a systemd unit. A quoted word knows two escapes that matter, and in all of these settings `%` begins a
 * specifier.
 */
import { unusable } from "./plan.ts";

/** One word, whatever is in it; for lists of paths and of variables. */
export const word = (text: string): string => `"${text.replace(/["\\]/g, String.raw`\$&`).replaceAll("%", "%%")}"`;

/**
 * The program of a command line. systemd starts none with a quote or a backslash in its path, and reads a variable behind
 * every `$`.
 */
export function program(path: string): string {
  if (/["'\\$]/.test(path)) throw unusable("the binary", "has a quote, a backslash or a dollar sign");
  return word(path);
}

/** In BindPaths= a colon divides source and target, quoted or not. */
export function bindWord(what: string, path: string): string {
  if (path.includes(":")) throw unusable(what, "has a colon");
  return word(path);
}
