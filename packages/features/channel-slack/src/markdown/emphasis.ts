/**
 * Which `*`, `_` and `~~` of Markdown belong together, by the rules of CommonMark, 6.2 (https://spec.commonmark.org/0.31.2/) and
 * strikethrough of GFM. What belongs to none stays a character.
 */
import type { Style } from "./types.ts";

export interface Delimiter {
  readonly kind: "delimiter";
  readonly char: "*" | "_" | "~";
  readonly canOpen: boolean;
  readonly canClose: boolean;
  /** Length of the run as it was written. */
  readonly length: number;
  /** Characters of it that mean nothing else. */
  left: number;
  readonly opens: (keyof Style)[];
  readonly closes: (keyof Style)[];
}

/** The run of delimiters at `at`; undefined where there is none that could mean anything. */
export function delimiterAt(text: string, at: number): Delimiter | undefined {
  const char = text[at];
  if (char !== "*" && char !== "_" && char !== "~") return undefined;
  let end = at + 1;
  while (text[end] === char) end += 1;
  const length = end - at;
  const before = characterBefore(text, at);
  const after = characterAt(text, end);
  const isLeft = !isSpace(after) && (!isPunctuation(after) || isSpace(before) || isPunctuation(before));
  const isRight = !isSpace(before) && (!isPunctuation(before) || isSpace(after) || isPunctuation(after));
  const isWordy = char === "_";
  return {
    kind: "delimiter",
    char,
    canOpen: isLeft && (!isWordy || !isRight || isPunctuation(before)) && (char !== "~" || length === 2),
    canClose: isRight && (!isWordy || !isLeft || isPunctuation(after)) && (char !== "~" || length === 2),
    length,
    left: length,
    opens: [],
    closes: [],
  };
}

/** Pairs them up: afterwards each says what it opens and closes. */
export function pairUp(delimiters: readonly Delimiter[]): void {
  const openers: Delimiter[] = [];
  for (const closer of delimiters) {
    while (closer.canClose && closer.left > 0) {
      const at = openers.findLastIndex((opener) => fits(opener, closer));
      const opener = openers[at];
      if (opener === undefined) break;
      // What was opened in between and not closed means nothing.
      openers.length = at + 1;
      const taken = opener.left >= 2 && closer.left >= 2 ? 2 : 1;
      const style = closer.char === "~" ? "strike" : taken === 2 ? "bold" : "italic";
      opener.left -= taken;
      closer.left -= taken;
      opener.opens.unshift(style);
      closer.closes.push(style);
      if (opener.left === 0) openers.pop();
    }
    if (closer.canOpen && closer.left > 0) openers.push(closer);
  }
}

function fits(opener: Delimiter, closer: Delimiter): boolean {
  if (opener.char !== closer.char) return false;
  if (opener.char === "~") return opener.left === 2 && closer.left === 2;
  // "Rule of three": **a*b**c* and the like.
  const isBoth = opener.canClose || closer.canOpen;
  return !isBoth || (opener.length + closer.length) % 3 !== 0 || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

const characterAt = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at) ?? 0x20);

function characterBefore(text: string, at: number): string {
  if (at === 0) return " ";
  const isPair = /[\uDC00-\uDFFF]/.test(text[at - 1] ?? "") && at > 1;
  return characterAt(text, isPair ? at - 2 : at - 1);
}

const isSpace = (char: string): boolean => /\s/u.test(char);
const isPunctuation = (char: string): boolean => /[\p{P}\p{S}]/u.test(char);
