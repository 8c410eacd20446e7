/** Text files as they were before each write: one record per write, in a folder of the home that only its user may read; and what a write changed. */
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ErrorCode, SvcError } from "@svc/contract";
import { createExclusively, isDiskFull } from "./home-files.ts";

export interface Version {
  readonly version: number;
  /** UTC. */
  readonly at: string;
  /** Who saved it. */
  readonly by: string;
  /** What was changed. */
  readonly keys: readonly string[];
}

export interface VersionStoreOptions {
  readonly folder: string;
  /** Path of the file or folder that is versioned; a home may be used with another config or workspace. */
  readonly subject: string;
  /** Older ones are removed. */
  readonly most: number;
  /** Whether a record that was read holds what the store keeps. */
  readonly isBefore: (record: { readonly [name: string]: unknown }) => boolean;
  /** When no version can be kept. */
  readonly unwritable: ErrorCode;
}

type Kept<Before> = Omit<Version, "version"> & Before;

const NAME = /^(\d{1,9})\.json$/;

export class VersionStore<Before extends object> {
  readonly #options: VersionStoreOptions;

  constructor(options: VersionStoreOptions) {
    this.#options = options;
  }

  /** Returns its number. Throws the code of `unwritable`: a write that can't be undone is not made. */
  keep(version: Kept<Before>): number {
    const { folder, subject, most, unwritable } = this.#options;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const numbers = this.#numbers();
      let number = (numbers.at(-1) ?? 0) + 1;
      const text = `${JSON.stringify({ file: subject, ...version })}\n`;
      while (!createExclusively(this.#path(number), text)) number += 1;
      for (const old of numbers.slice(0, Math.max(0, numbers.length + 1 - most))) this.drop(old);
      return number;
    } catch (cause) {
      const isFull = isDiskFull(cause);
      throw new SvcError(unwritable, `${folder} can't be written${isFull ? ": the disk is full" : ""}.`, {
        hint: isFull ? "Free some space, then save again." : "Make the home writable for this user.",
        cause,
      });
    }
  }

  drop(version: number): void {
    rmSync(this.#path(version), { force: true });
  }

  /** The newest first; one that can't be read is left out. */
  list(): (Kept<Before> & { readonly version: number })[] {
    return this.#numbers()
      .toReversed()
      .flatMap((version) => {
        const stored = this.#stored(version);
        return stored ? [{ ...stored, version }] : [];
      });
  }

  /** Throws VERSION_UNKNOWN. */
  read(version: number): Kept<Before> {
    const stored = this.#stored(version);
    if (!stored) throw new SvcError("VERSION_UNKNOWN");
    return stored;
  }

  #stored(version: number): Kept<Before> | undefined {
    try {
      const stored = JSON.parse(readFileSync(this.#path(version), "utf8")) as Kept<Before> & { file: string };
      const isOurs = stored.file === this.#options.subject && Array.isArray(stored.keys);
      return isOurs && this.#options.isBefore(stored as never) ? stored : undefined;
    } catch {
      return undefined;
    }
  }

  #numbers(): number[] {
    try {
      const names = readdirSync(this.#options.folder).map((name) => NAME.exec(name)?.[1]);
      return names.flatMap((digits) => (digits === undefined ? [] : [Number(digits)])).sort((a, b) => a - b);
    } catch {
      return [];
    }
  }

  #path(version: number): string {
    return join(this.#options.folder, `${version}.json`);
  }
}

/** What a change does to a text, line by line. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed" | "gap";
  /** From 1: of the new file for what is added or the same, of the old one for what is removed. */
  readonly line: number;
  readonly text: string;
}

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
