/**
 * Text without what steers terminals and readers: control characters, and marks that turn the direction of what follows, by
 * which a file can show a person another text than it holds. Line ends and tabs stay.
 */
export const plain = (text: string): string => text.replace(STEERING, "").toWellFormed();

// oxlint-disable-next-line no-control-regex -- these are what it is about
const STEERING = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/g;
