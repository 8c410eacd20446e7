/**
 * One line of runs. The platform reads a mark only at the edge of a word, so that edges are made where there are none; marks
 * of the text are told from marks of ours wherever the two could be confused.
 */
import { escaped, literalMarks, lookAlike, type Mark, MARKS, WORD_END } from "./escape.ts";
import type { Run, Style } from "./types.ts";

export function lineOf(runs: readonly Run[]): string {
  const tokens = opened(spaced(runs));
  const units = tokens.flatMap((token, at): Unit[] =>
    token.kind === "text" ? [...token.text].map((char) => ({ char })) : [{ written: written(token, tokens, at) }],
  );
  const isRisky = risks(units, tokens);
  const pieces = units.map((unit, at): Piece => {
    if ("written" in unit) return { text: unit.written, isRisky: false };
    return isRisky(unit.char, at) ? { text: unit.char, isRisky: true } : { text: escaped(unit.char), isRisky: false };
  });
  return joined(pieces);
}

/** A character of the text, or something of ours. */
type Unit = { readonly char: string } | { readonly written: string };
/** `isRisky`: marks that must not be read as such. */
interface Piece {
  readonly text: string;
  readonly isRisky: boolean;
}

/** Marks next to each other are one piece, as each has many characters around it; but three backticks would be code. */
function joined(pieces: readonly Piece[]): string {
  let line = "";
  let marks = "";
  const end = (): void => {
    if (marks !== "") line += literalMarks(marks);
    marks = "";
  };
  for (const { text, isRisky } of pieces) {
    if (!isRisky || (marks.endsWith("``") && text === "`")) end();
    if (isRisky) marks += text;
    else line += text;
  }
  end();
  return line;
}

function written(token: Exclude<Token, { kind: "text" }>, tokens: readonly Token[], at: number): string {
  const [before, behind] = [edge(tokens[at - 1]), edge(tokens[at + 1], true)];
  if (token.kind === "link") return linkOf(token.url, token.label);
  if (token.kind === "code") return `${before}\`${codeOf(token.text)}\`${behind}`;
  return token.opens ? before + token.mark : token.mark + behind;
}

type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "link"; readonly url: string; readonly label: string }
  | { readonly kind: "mark"; readonly mark: Mark; readonly opens: boolean };

const STYLES = [
  ["bold", "*"],
  ["italic", "_"],
  ["strike", "~"],
] as const satisfies readonly (readonly [keyof Style, Mark])[];

/** White space at an edge of a style would keep the mark from being read: it has the styles of both its neighbours only. */
function spaced(runs: readonly Run[]): Run[] {
  const pieces = runs.flatMap((run): Run[] => {
    if (run.url !== undefined) return [run];
    const rest = run.text.trimStart();
    const inner = rest.trimEnd();
    const [before, after] = [run.text.slice(0, run.text.length - rest.length), rest.slice(inner.length)];
    const blank = (text: string): Run[] => (text === "" ? [] : [{ text }]);
    return [...blank(before), ...(inner === "" ? [] : [{ ...run, text: inner }]), ...blank(after)];
  });
  const lefts = lastShown(pieces);
  const rights = lastShown(pieces.toReversed()).toReversed();
  return pieces.map((piece, at) => {
    if (!isBlank(piece)) return piece;
    const shared = STYLES.filter(([style]) => lefts[at]?.[style] && rights[at]?.[style]);
    return { text: piece.text, ...Object.fromEntries(shared.map(([style]) => [style, true])) };
  });
}

/** Of each run the last one up to it that is not blank. */
function lastShown(runs: readonly Run[]): (Run | undefined)[] {
  let last: Run | undefined;
  return runs.map((run) => (isBlank(run) ? last : (last = run)));
}

const isBlank = ({ text, url }: Run): boolean => url === undefined && text.trim() === "";

/** Marks around what they are of, one inside of the other. */
function opened(runs: readonly Run[]): Token[] {
  const tokens: Token[] = [];
  const open: Mark[] = [];
  const close = (wanted: readonly Mark[]): void => {
    const keep = open.findIndex((mark) => !wanted.includes(mark));
    for (const mark of open.splice(keep === -1 ? open.length : keep).toReversed()) {
      tokens.push({ kind: "mark", mark, opens: false });
    }
  };
  for (const run of runs) {
    const wanted = STYLES.filter(([style]) => run[style]).map(([, mark]) => mark);
    close(wanted);
    // Before white space nothing opens.
    for (const mark of isBlank(run) ? [] : wanted.filter((one) => !open.includes(one))) {
      open.push(mark);
      tokens.push({ kind: "mark", mark, opens: true });
    }
    if (run.url !== undefined) tokens.push({ kind: "link", url: run.url, label: run.text });
    else tokens.push({ kind: run.code ? "code" : "text", text: run.text });
  }
  close([]);
  return tokens;
}

/** What stands between a mark and its neighbour on the outside; nothing at the end of the line, or where a word ends anyway. */
function edge(neighbour: Token | undefined, isBehind: boolean = false): string {
  if (neighbour === undefined) return "";
  if (neighbour.kind !== "text") return neighbour.kind === "mark" && neighbour.opens !== isBehind ? "" : WORD_END;
  return /\s/.test((isBehind ? neighbour.text[0] : neighbour.text.at(-1)) ?? " ") ? "" : WORD_END;
}

/** A backtick would end it. */
const codeOf = (text: string): string => escaped(text.replaceAll("`", "ˋ"));

function linkOf(url: string, label: string): string {
  const shown = label.trim();
  if (shown === "" || shown === url) return `<${escaped(url)}>`;
  const chars = [...shown].map((char, at, all) => (char === "`" || isAtEdge(all, at) ? lookAlike(char) : char));
  return `<${escaped(url)}|${escaped(chars.join(""))}>`;
}

/** Which marks of the text the platform could take for formatting: those at an edge of a word, where there are two to pair. */
function risks(units: readonly Unit[], tokens: readonly Token[]): (char: string, at: number) => boolean {
  // What is ours ends a word on either side.
  const chars = units.map((unit) => ("char" in unit ? unit.char : "|"));
  const risky = new Set(MARKS.filter((mark) => tokens.some((token) => isOurs(token, mark)) || canPair(chars, mark)));
  return (char, at) => risky.has(char as Mark) && (char === "`" || isAtEdge(chars, at));
}

const isOurs = (token: Token, mark: Mark): boolean =>
  token.kind === "mark" ? token.mark === mark : token.kind === "code" && mark === "`";

function canPair(chars: readonly string[], mark: Mark): boolean {
  if (mark === "`") return chars.indexOf(mark) !== chars.lastIndexOf(mark);
  const opens = chars.findIndex((char, at) => char === mark && canOpen(chars, at));
  const closes = chars.findLastIndex((char, at) => char === mark && canClose(chars, at));
  return opens !== -1 && opens < closes;
}

const isAtEdge = (chars: readonly string[], at: number): boolean => canOpen(chars, at) || canClose(chars, at);
const canOpen = (chars: readonly string[], at: number): boolean => !isWordy(chars[at - 1]) && !isSpace(chars[at + 1]);
const canClose = (chars: readonly string[], at: number): boolean => !isSpace(chars[at - 1]) && !isWordy(chars[at + 1]);

const isWordy = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char);
const isSpace = (char: string | undefined): boolean => char === undefined || /\s/.test(char);
