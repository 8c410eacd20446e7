/** Words of somebody else inside of ours: they must not look like ours, nor hide what follows. */

/** One line without control characters, and without those that turn the direction of what follows. */
export const oneLine = (text: string): string => lines(text).join(" ").replaceAll(/\s+/g, " ").trim();

/** Every line of it behind a mark, so that no line of it can be taken for one of ours. */
export const quoted = (text: string): string =>
  lines(text)
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");

/** At most `maxChars` UTF-16 units, never half of a character. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${wellFormed(text.slice(0, Math.max(0, maxChars - 1))).replace(/�$/, "")}…`;
}

/** Cut, with a line that says so: whoever decides by it, or works on it, should know that there is more. */
export function shortened(text: string, maxChars: number): string {
  const over = text.length - maxChars;
  return over <= 0 ? text : `${wellFormed(text.slice(0, maxChars))}\n[cut: ${over} more characters]`;
}

/** As a database and a platform hand it back: no half of a surrogate pair. */
export const wellFormed = (text: string): string => text.toWellFormed();

/** Every way to begin a new line counts as one: platforms differ in which they show. */
const lines = (text: string): string[] =>
  wellFormed(text)
    .replaceAll("\t", " ")
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.replaceAll(/[\p{Cc}\p{Cf}]/gu, withoutJoiners).trimEnd());

/** Joiners make letters and emoji; what else shows nothing may only mislead. */
const withoutJoiners = (character: string): string =>
  character === "\u200d" || character === "\u200c" ? character : "";
