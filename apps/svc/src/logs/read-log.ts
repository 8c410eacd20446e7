/** The lines of the log that somebody wants to see: first where they begin is looked for, from the end; then they are read. */
import { type LogEntry, parseLogLine } from "@svc/runtime";
import { LineSplitter, linesBackwards, readOn } from "./lines.ts";
import { closeFile, newestFirst, oldest, type OpenFile, sizeOf, successor } from "./log-files.ts";

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
