/** The lines of the log that somebody wants to see: first where they begin is looked for, from the end; then they are read. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { SvcError } from "@svc/contract";
import { asideNumbers, type LogEntry, parseLogLine } from "@svc/runtime";

export interface LogLine {
  readonly text: string;
  /** Undefined for what is no line of ours: half of one, or somebody else's. */
  readonly entry: LogEntry | undefined;
}

export interface Wanted {
  /** Most lines of what is there already, the last ones; undefined: all. */
  readonly count: number | undefined;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number | undefined;
  matches(line: LogLine): boolean;
}

/** Waits a moment; resolves with whether to go on. */
export type Pause = () => Promise<boolean>;

/** `pause`: at the end of the log wait for more, over rotation and truncation, until it says no. Throws LOG_UNREADABLE. */
export async function* readLog(path: string, wanted: Wanted, pause?: Pause): AsyncGenerator<LogLine> {
  for await (const text of linesFrom(path, startOf(path, wanted), pause)) {
    const line = { text, entry: parseLogLine(text) };
    if (wanted.matches(line)) yield line;
  }
}

interface Start {
  readonly file: OpenFile;
  readonly offset: number;
}

/** The file of the result is open. Undefined when there is no file at all. */
function startOf(path: string, wanted: Wanted): Start | undefined {
  const opened: OpenFile[] = [];
  const start = search(path, wanted, opened);
  for (const file of opened) if (file !== start?.file) closeFile(file);
  return start;
}

function search(path: string, { count, sinceMs, matches }: Wanted, opened: OpenFile[]): Start | undefined {
  let start: Start | undefined;
  let left = count ?? Number.POSITIVE_INFINITY;
  for (const file of newestFirst(path)) {
    opened.push(file);
    start ??= { file, offset: sizeOf(file) };
    if (left === 0) return start;
    for (const { offset, text } of linesBackwards(file.handle, sizeOf(file))) {
      const line = { text, entry: parseLogLine(text) };
      if (isBefore(line, sinceMs)) return start;
      if (!matches(line)) continue;
      start = { file, offset };
      left -= 1;
      if (left === 0) return start;
    }
  }
  return start;
}

const isBefore = ({ entry }: LogLine, sinceMs: number | undefined): boolean =>
  sinceMs !== undefined && entry !== undefined && Date.parse(entry.time) < sinceMs;

async function* linesFrom(path: string, start: Start | undefined, pause: Pause | undefined): AsyncGenerator<string> {
  let at = start && new FileReader(start.file, start.offset);
  try {
    for (;;) {
      if (at) yield* at.lines();
      const next = at ? successor(path, at.file) : oldest(path);
      if (next) {
        // Once more: something may have been written between the look at its end and its renaming.
        if (at) yield* at.lines();
        if (at) yield* at.rest();
        at?.close();
        at = new FileReader(next, 0);
      } else if (!(await (pause?.() ?? false))) break;
    }
    if (at && !pause) yield* at.rest();
  } finally {
    at?.close();
  }
}

class FileReader {
  readonly file: OpenFile;
  readonly #splitter = new LineSplitter();
  #offset: number;
  #closed = false;

  constructor(file: OpenFile, offset: number) {
    this.file = file;
    this.#offset = offset;
  }

  *lines(): Generator<string> {
    if (sizeOf(this.file) < this.#offset) {
      // Emptied by somebody (copytruncate): from its beginning.
      yield* this.rest();
      this.#offset = 0;
    }
    for (let bytes = this.#next(); bytes.length > 0; bytes = this.#next()) yield* this.#splitter.push(bytes);
  }

  /** Half a line at the end. */
  rest(): string[] {
    return this.#splitter.flush();
  }

  close(): void {
    if (!this.#closed) closeFile(this.file);
    this.#closed = true;
  }

  #next(): Buffer {
    const bytes = readOn(this.file.handle, this.#offset);
    this.#offset += bytes.length;
    return bytes;
  }
}

/** The service writes nothing near as long; a file without line breaks must not fill the memory. */
export const LONGEST_LINE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

interface LineAt {
  /** Where it begins. */
  readonly offset: number;
  readonly text: string;
}

/** The lines before `end`, the last one first. Blank ones are left out; of a line that is too long only the beginning is kept. */
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

/** The files of the log as a reader finds them: told apart by what they are, as their names change under it. */
export interface OpenFile {
  readonly handle: number;
  /** The same for as long as it is open, whatever its name becomes. */
  readonly id: string;
}

/** Undefined when there is none. Throws LOG_UNREADABLE. */
export function openFile(path: string): OpenFile | undefined {
  try {
    // Not to wait for the writer of a FIFO that somebody left there.
    const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(handle);
    if (stats.isFile()) return { handle, id: idOf(stats) };
    closeSync(handle);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw unreadable(path, cause);
  }
  throw unreadable(path);
}

export const sizeOf = ({ handle }: OpenFile): number => fstatSync(handle).size;
export const closeFile = ({ handle }: OpenFile): void => closeSync(handle);

/** The current file, then those put aside, each once although they are renamed meanwhile. Open; the caller closes. */
export function* newestFirst(path: string): Generator<OpenFile> {
  const seen = new Set<string>();
  let number: number | undefined = 0;
  while (number !== undefined) {
    const file = openFile(number === 0 ? path : `${path}.${number}`);
    if (file && seen.has(file.id)) closeFile(file);
    else if (file) {
      seen.add(file.id);
      yield file;
    }
    // Looked up anew: a rotation gives each of them the next number.
    const last: number = number;
    number = asideNumbers(path).find((each) => each > last);
  }
}

/** Open; undefined when there is none. */
function oldest(path: string): OpenFile | undefined {
  let last: OpenFile | undefined;
  for (const file of newestFirst(path)) {
    if (last) closeFile(last);
    last = file;
  }
  return last;
}

/** The file that the log went on in after `file`; undefined while it is still the current one. */
function successor(path: string, file: OpenFile): OpenFile | undefined {
  if (idAt(path) === file.id) return undefined;
  const paths = [path, ...asideNumbers(path).map((number) => `${path}.${number}`)];
  const place = paths.findIndex((each) => idAt(each) === file.id);
  // Removed, or renamed by somebody else: what came in between can't be told from what was read already.
  const next = openFile(place > 0 ? paths[place - 1]! : path);
  if (next?.id !== file.id) return next;
  // Renamed once more between the two looks; the next look will tell.
  closeFile(next);
  return undefined;
}

function idAt(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && idOf(stats);
}

const idOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

const unreadable = (path: string, cause?: unknown): SvcError =>
  new SvcError("LOG_UNREADABLE", `${path} can't be read.`, {
    cause,
    hint: "Run svc as the user that runs the daemon, or name another home with SVC_HOME.",
  });
