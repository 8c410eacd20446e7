/**
 * Text that the platform must show as it is.
 * https://docs.slack.dev/messaging/formatting-message-text#escaping
 */

/** The three characters with a meaning of their own: without them there is no link and no mention. */
export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The reverse, for what comes in. */
export const unescaped = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** Marks of formatting, for which the platform has no escape. */
export const MARKS = ["*", "_", "~", "`"] as const;
export type Mark = (typeof MARKS)[number];

/**
 * Marks that format nothing. A date that is none is shown as the text that stands in for it, and that is not formatted; any
 * other way would show another character or none.
 */
export const literalMarks = (marks: string): string => `<!date^00000000^{_}|${marks}>`;

/** Where no token is read, inside of a link's label: a character that looks the same. */
export const lookAlike = (text: string): string => text.replaceAll(/[*_~`]/g, (mark) => LOOK_ALIKES[mark as Mark]);

const LOOK_ALIKES: Readonly<Record<Mark, string>> = { "*": "∗", _: "ˍ", "~": "∼", "`": "ˋ" };

/** Ends a word where the platform needs one to end, and is not seen. */
export const WORD_END = "\u200B";

/** Takes a quote's mark its meaning at the beginning of a line. */
export const NO_QUOTE = "\u00AD";
