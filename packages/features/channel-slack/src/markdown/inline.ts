/** Text of one block of Markdown, as runs. */
import { type Delimiter, delimiterAt, pairUp } from "./emphasis.ts";
import { autolinkAt, bareUrlAt, linkAt } from "./links.ts";
import type { Run, Style } from "./types.ts";

/** Whatever it is: what is no Markdown, or not finished yet, is text as it stands. */
export function runsOf(text: string): Run[] {
  const pieces = piecesOf(text);
  pairUp(pieces.filter((piece) => piece.kind === "delimiter"));
  const open = { bold: 0, italic: 0, strike: 0, code: 0 };
  const runs: Run[] = [];
  for (const piece of pieces) {
    if (piece.kind === "delimiter") {
      for (const style of piece.closes) open[style] -= 1;
      if (piece.left > 0) add(runs, { ...styleOf(open), text: piece.char.repeat(piece.left) });
      for (const style of piece.opens) open[style] += 1;
    } else add(runs, { ...piece.run, ...styleOf(open) });
  }
  return runs;
}

/** Without any style: a label, a cell of a table. */
export const plainOf = (text: string): string =>
  runsOf(text)
    .map((run) => run.text)
    .join("");

type Piece = Delimiter | { readonly kind: "run"; readonly run: Run };

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let plain = "";
  const end = (): void => {
    if (plain !== "") pieces.push({ kind: "run", run: { text: plain } });
    plain = "";
  };
  for (let at = 0; at < text.length;) {
    const found = runAt(text, at) ?? delimiterPiece(text, at);
    if (found === undefined) {
      const escaped = text[at] === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "");
      plain += text[escaped ? at + 1 : at];
      at += escaped ? 2 : 1;
      continue;
    }
    end();
    pieces.push(found.piece);
    at = found.end;
  }
  end();
  return pieces;
}

interface FoundPiece {
  readonly piece: Piece;
  readonly end: number;
}

function delimiterPiece(text: string, at: number): FoundPiece | undefined {
  const piece = delimiterAt(text, at);
  return piece && { piece, end: at + piece.length };
}

function runAt(text: string, at: number): FoundPiece | undefined {
  const char = text[at] as string;
  if (char === "`") return codeAt(text, at);
  const link = LINK_STARTS.includes(char)
    ? (linkAt(text, at) ?? autolinkAt(text, at) ?? bareUrlAt(text, at))
    : undefined;
  if (link === undefined) return undefined;
  const label = link.label === undefined ? "" : plainOf(link.label).replaceAll(/\s+/g, " ").trim();
  return { piece: { kind: "run", run: { text: label || link.url, url: link.url } }, end: link.end };
}

const LINK_STARTS = "[!<hH";

/** Between two runs of as many backticks; one that is not closed is text. */
function codeAt(text: string, at: number): FoundPiece {
  const [fence = "`"] = /^`+/.exec(text.slice(at)) ?? [];
  const from = at + fence.length;
  for (const close of text.slice(from).matchAll(/`+/g)) {
    if (close[0].length !== fence.length) continue;
    const inner = text.slice(from, from + close.index).replaceAll("\n", " ");
    const trimmed = /^ .*\S.* $/.test(inner) ? inner.slice(1, -1) : inner;
    const run: Run = inner.trim() === "" ? { text: fence + inner + fence } : { text: trimmed, code: true };
    return { piece: { kind: "run", run }, end: from + close.index + fence.length };
  }
  return { piece: { kind: "run", run: { text: fence } }, end: from };
}

function styleOf(open: Readonly<Record<keyof Style, number>>): Style {
  return {
    ...(open.bold > 0 && { bold: true }),
    ...(open.italic > 0 && { italic: true }),
    ...(open.strike > 0 && { strike: true }),
  };
}

/** Neighbours that look the same are one. */
function add(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  const isSame = last !== undefined && !run.code && !run.url && !last.code && !last.url && looks(last) === looks(run);
  if (isSame) runs[runs.length - 1] = { ...last, text: last.text + run.text };
  else runs.push(run);
}

const looks = ({ bold, italic, strike }: Style): string => [bold, italic, strike].join();
