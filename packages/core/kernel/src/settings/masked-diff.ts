/** What a change does to the file, line by line, without a character of a secret. */
import { MASK } from "../config/redacted.ts";
import { secretPlaces } from "../config/secret-values.ts";
import type { Section } from "../config/sections.ts";
import { keyText, type Path, type Table } from "../config/table.ts";
import { readPlaces } from "../config/toml-places.ts";
import { tomlText } from "../config/toml-text.ts";
import { walkSection } from "../config/walk-schema.ts";

export interface DiffLine {
  readonly kind: "same" | "added" | "removed" | "gap";
  /** From 1: of the new file for what is added or the same, of the old one for what is removed. */
  readonly line: number;
  readonly text: string;
}

interface Masking {
  readonly text: string;
  readonly table: Table;
  readonly sections: readonly Section[];
  /** In plain text, for comments that hold one too. */
  readonly secrets: readonly string[];
  /** Secrets at or below these are shown as new. */
  readonly edited: readonly Path[];
}

/** Shorter ones stand in a text by chance. */
const SHORTEST = 6;

export function maskedText({ text, table, sections, secrets, edited }: Masking): string {
  const places = readPlaces(text);
  const isNew = (path: Path): boolean =>
    edited.some((own) => own.length <= path.length && own.every((name, depth) => name === path[depth]));
  const ranges = secretPlaces(table, sections).flatMap(({ path, value }) => {
    const range = places.rangeOf(path);
    return range && value !== "" ? [{ range, shown: tomlText(isNew(path) ? `${MASK} (new)` : MASK) }] : [];
  });
  ranges.sort((a, b) => b.range[0] - a.range[0]);
  let masked = text;
  for (const { range, shown } of ranges) masked = masked.slice(0, range[0]) + shown + masked.slice(range[1]);
  for (const secret of secrets) if (secret.length >= SHORTEST) masked = masked.replaceAll(secret, MASK);
  return masked.replaceAll(COMMENTED, (line, start: string, name: string) =>
    namesOfSecrets(sections).has(name) ? `${start}${tomlText(MASK)}` : line,
  );
}

const COMMENTED = /^([ \t]*#[ \t]*(?:[\w-]+\.)*([\w-]+)[ \t]*=[ \t]*)(?:"[^"\r\n]+"|'[^'\r\n]+')/gm;

const namesOfSecrets = (sections: readonly Section[]): ReadonlySet<string> =>
  new Set(
    sections.flatMap((section) =>
      walkSection(section).flatMap(({ path, node }) => (node.marks.secret ? [keyText(path.slice(-1))] : [])),
    ),
  );

const CONTEXT = 2;
/** Two files that share nothing in the middle are told as one block. */
const MOST_CELLS = 4_000_000;

export function diffOf(before: string, after: string): DiffLine[] {
  const old = before.split(/\r?\n/);
  const next = after.split(/\r?\n/);
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, next.length) - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  const middle = changes(old.slice(head, old.length - tail), next.slice(head, next.length - tail));
  const lines: DiffLine[] = [];
  for (let at = 0; at < head; at += 1) lines.push({ kind: "same", line: at + 1, text: next[at]! });
  for (const { kind, line, text } of middle) lines.push({ kind, line: line + head, text });
  for (let at = next.length - tail; at < next.length; at += 1)
    lines.push({ kind: "same", line: at + 1, text: next[at]! });
  return nearChanges(lines);
}

/** By the longest common subsequence. */
function changes(old: readonly string[], next: readonly string[]): DiffLine[] {
  const all = (lines: readonly string[], kind: DiffLine["kind"]): DiffLine[] =>
    lines.map((text, index) => ({ kind, line: index + 1, text }));
  if (old.length * next.length > MOST_CELLS) return [...all(old, "removed"), ...all(next, "added")];
  const width = next.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = next.length - 1; j >= 0; j -= 1) {
      const here = i * width + j;
      longest[here] =
        old[i] === next[j] ? longest[here + width + 1]! + 1 : Math.max(longest[here + width]!, longest[here + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    const here = i * width + j;
    if (i < old.length && j < next.length && old[i] === next[j]) {
      lines.push({ kind: "same", line: j + 1, text: next[j]! });
      [i, j] = [i + 1, j + 1];
    } else if (i < old.length && (j === next.length || longest[here + width]! >= longest[here + 1]!)) {
      lines.push({ kind: "removed", line: i + 1, text: old[i]! });
      i += 1;
    } else {
      lines.push({ kind: "added", line: j + 1, text: next[j]! });
      j += 1;
    }
  }
  return lines;
}

/** Changed lines with two around them, and the header of their table; what is left out between them is a gap. */
function nearChanges(lines: readonly DiffLine[]): DiffLine[] {
  const shown = new Set<number>();
  lines.forEach(({ kind }, index) => {
    if (kind === "same") return;
    for (let near = index - CONTEXT; near <= index + CONTEXT; near += 1) shown.add(near);
    for (let above = index; above >= 0; above -= 1) {
      if (!/^\s*\[/.test(lines[above]!.text)) continue;
      shown.add(above);
      break;
    }
  });
  const near: DiffLine[] = [];
  lines.forEach((line, index) => {
    if (shown.has(index)) near.push(line);
    else if (near.length > 0 && near.at(-1)!.kind !== "gap") near.push({ kind: "gap", line: line.line, text: "" });
  });
  if (near.at(-1)?.kind === "gap") near.pop();
  return near;
}
