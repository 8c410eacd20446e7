/** Bytes of a log file as lines, from its end backwards and onwards. However long a line is, only its beginning is kept. */
import { readSync } from "node:fs";

/** The service writes nothing near as long; a file without line breaks must not fill the memory. */
export const LONGEST_LINE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export interface LineAt {
  /** Where it begins. */
  readonly offset: number;
  readonly text: string;
}

/** The lines before `end`, the last one first. Blank ones are left out. */
export function* linesBackwards(handle: number, end: number): Generator<LineAt> {
  let at = end;
  let rest: Buffer = Buffer.alloc(0);
  while (at > 0) {
    const from = Math.max(0, at - CHUNK_BYTES);
    const chunk = readAt(handle, from, at - from);
    let stop = chunk.length;
    for (let index = lastNewline(chunk, stop); index >= 0; index = lastNewline(chunk, stop)) {
      yield* lineOf(from + index + 1, Buffer.concat([chunk.subarray(index + 1, stop), rest]));
      rest = Buffer.alloc(0);
      stop = index;
    }
    rest = Buffer.concat([chunk.subarray(0, stop), rest.subarray(0, LONGEST_LINE_BYTES)]);
    at = from;
  }
  yield* lineOf(0, rest);
}

/** Takes bytes in order and gives the lines that are whole. */
export class LineSplitter {
  #rest: Buffer = Buffer.alloc(0);

  push(bytes: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let index = bytes.indexOf(NEWLINE); index >= 0; index = bytes.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([this.#rest, bytes.subarray(start, index)]);
      if (line.length > 0) lines.push(textOf(line));
      this.#rest = Buffer.alloc(0);
      start = index + 1;
    }
    if (this.#rest.length < LONGEST_LINE_BYTES) this.#rest = Buffer.concat([this.#rest, bytes.subarray(start)]);
    return lines;
  }

  /** What came after the last line break, as a line: nobody will end it any more. */
  flush(): string[] {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest.length > 0 ? [textOf(rest)] : [];
  }
}

/** The next bytes after `offset`; empty at the end of the file. */
export const readOn = (handle: number, offset: number): Buffer => readAt(handle, offset, CHUNK_BYTES);

function readAt(handle: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(handle, bytes, 0, length, offset));
}

function lastNewline(chunk: Buffer, before: number): number {
  return before === 0 ? -1 : chunk.lastIndexOf(NEWLINE, before - 1);
}

function* lineOf(offset: number, bytes: Buffer): Generator<LineAt> {
  if (bytes.length > 0) yield { offset, text: textOf(bytes) };
}

function textOf(line: Buffer): string {
  const text = line.toString("utf8", 0, Math.min(line.length, LONGEST_LINE_BYTES));
  return line.length > LONGEST_LINE_BYTES ? `${text}…` : text;
}
