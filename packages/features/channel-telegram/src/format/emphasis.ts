/**
 * Runs of `*`, `_` and `~`: where one that opens is closed. Stricter than CommonMark in one point: a single mark within a
 * word of ASCII opens nothing, so that `2*3*4` and `snake_case` stay what they are.
 * https://spec.commonmark.org/0.31.2/#emphasis-and-strong-emphasis
 */
import { codeAt, isEscape, ticksAt } from "./literal.ts";

/** How many marks or backticks of one kind are there; 0: none. */
export function runAt(text: string, at: number): number {
  const mark = text[at];
  if (mark === "`") return ticksAt(text, at);
  if (mark !== "*" && mark !== "_" && mark !== "~") return 0;
  let end = at;
  while (text[end] === mark) end += 1;
  return end - at;
}

export function opens(text: string, at: number, length: number): boolean {
  const next = text[at + length];
  if (next === undefined || /\s/.test(next)) return false;
  return isWithinWords(text[at], length) || !isWord(text[at - 1]);
}

/** Behind the run that closes the one of `length` marks at `at`; undefined: nothing after it does. */
export function emphasisEnd(text: string, at: number, length: number): number | undefined {
  const from = at + length;
  /** Runs that make three with this one: `**a *b***` closes two at once. */
  let others = 0;
  for (let place = from; place < text.length;) {
    const run = text[place] === text[at] ? runAt(text, place) : 0;
    if (run > 0 && place > from && closes(text, place, run)) {
      if (run === length) return place + run;
      if (run === 3 && others % 2 === 1) return place + run;
    }
    if (run > 0 && run === 3 - length) others += 1;
    place = run > 0 ? place + run : behind(text, place);
  }
  return undefined;
}

function behind(text: string, at: number): number {
  if (isEscape(text, at)) return at + 2;
  if (text[at] === "`") return codeAt(text, at)?.end ?? at + ticksAt(text, at);
  return at + 1;
}

function closes(text: string, at: number, length: number): boolean {
  if (/\s/.test(text[at - 1] as string)) return false;
  // `__init__.py` is a name.
  const after = text.slice(at + length, at + length + 2);
  return isWithinWords(text[at], length) || !isWord(after[0] === "." ? after[1] : after[0]);
}

/** `**` and `~~` mean something also in the middle of a word. */
const isWithinWords = (mark: string | undefined, length: number): boolean => mark !== "_" && length > 1;

/** ASCII: scripts without spaces between words emphasise in the middle of what looks like one. */
const isWord = (character: string | undefined): boolean => character !== undefined && /[A-Za-z0-9]/.test(character);
