/**
 * One line of runs. The platform reads a mark only at the edge of a word, so that edges are made where there are none; marks
 * of the text are told from marks of ours wherever the two could be confused.
 */
import { escaped, literalMark, lookAlike, type Mark, MARKS, WORD_END } from "./escape.ts";
import type { Run, Style } from "./types.ts";

export function lineOf(runs: readonly Run[]): string {
  const tokens = opened(spaced(runs));
  const meant = confusable(tokens);
  let line = "";
  for (const [at, token] of tokens.entries()) {
    if (token.kind === "text") line += textOf(token.text, meant);
    else if (token.kind === "link") line += linkOf(token.url, token.label);
    else if (token.kind === "code")
      line += `${edge(tokens[at - 1])}\`${codeOf(token.text)}\`${edge(tokens[at + 1], true)}`;
    else line += token.opens ? edge(tokens[at - 1]) + token.mark : token.mark + edge(tokens[at + 1], true);
  }
  return line;
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
    const [, before = "", inner = "", after = ""] = /^(\s*)(.*?)(\s*)$/s.exec(run.text) ?? [];
    const blank = (text: string): Run[] => (text === "" ? [] : [{ text }]);
    return [...blank(before), ...(inner === "" ? [] : [{ ...run, text: inner }]), ...blank(after)];
  });
  return pieces.map((piece, at) => {
    if (piece.text.trim() !== "") return piece;
    const left = pieces.slice(0, at).findLast(({ text }) => text.trim() !== "");
    const right = pieces.slice(at + 1).find(({ text }) => text.trim() !== "");
    const shared = STYLES.filter(([style]) => left?.[style] && right?.[style]);
    return { text: piece.text, ...Object.fromEntries(shared.map(([style]) => [style, true])) };
  });
}

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
    for (const mark of wanted.filter((one) => !open.includes(one))) {
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
  const target = escaped(url);
  const shown = label.trim();
  if (shown === "" || shown === url) return `<${target}>`;
  const isSafe = MARKS.every((mark) => !couldFormat(shown, mark));
  return `<${target}|${escaped(isSafe ? shown : lookAlike(shown))}>`;
}

/** Marks that the text has, where the platform could take them for formatting. */
function confusable(tokens: readonly Token[]): ReadonlySet<Mark> {
  const line = tokens.map((token) => (token.kind === "text" ? token.text : token.kind === "mark" ? "" : "x")).join("");
  return new Set(MARKS.filter((mark) => tokens.some((token) => isOurs(token, mark)) || couldFormat(line, mark)));
}

const isOurs = (token: Token, mark: Mark): boolean =>
  token.kind === "mark" ? token.mark === mark : token.kind === "code" && mark === "`";

function couldFormat(line: string, mark: Mark): boolean {
  const places = [...line].flatMap((char, at) => (char === mark ? [at] : []));
  if (mark === "`") return places.length > 1;
  const chars = [...line];
  const opens = places.find((at) => !isWordy(chars[at - 1]) && !isSpace(chars[at + 1]));
  const closes = places.findLast((at) => !isSpace(chars[at - 1]) && !isWordy(chars[at + 1]));
  return opens !== undefined && closes !== undefined && opens < closes;
}

const isWordy = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char);
const isSpace = (char: string | undefined): boolean => char === undefined || /\s/.test(char);

const textOf = (text: string, meant: ReadonlySet<Mark>): string =>
  text.replaceAll(/[*_~`]|[^*_~`]+/g, (piece) =>
    meant.has(piece as Mark) ? literalMark(piece as Mark) : escaped(piece),
  );
