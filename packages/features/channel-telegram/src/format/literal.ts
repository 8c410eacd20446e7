/** What is not read for marks: code, and characters behind a backslash. */

export interface CodeSpan {
  readonly text: string;
  /** Behind its last backtick. */
  readonly end: number;
}

/** Undefined where as many backticks do not come again. https://spec.commonmark.org/0.31.2/#code-spans */
export function codeAt(text: string, at: number): CodeSpan | undefined {
  const count = ticksAt(text, at);
  for (let close = text.indexOf("`", at + count); close !== -1;) {
    const ticks = ticksAt(text, close);
    if (ticks === count) return { text: unpadded(text.slice(at + count, close)), end: close + count };
    close = text.indexOf("`", close + ticks);
  }
  return undefined;
}

export function ticksAt(text: string, at: number): number {
  let end = at;
  while (text[end] === "`") end += 1;
  return end - at;
}

/** One space on both sides is there to keep backticks apart. */
const unpadded = (code: string): string => (/^ .* $/s.test(code) && code.trim() !== "" ? code.slice(1, -1) : code);

/** https://spec.commonmark.org/0.31.2/#backslash-escapes */
export const isEscape = (text: string, at: number): boolean =>
  text[at] === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? " ");
