/** A page of the log for readers that come again: the newest lines, then what was written since. Bounded in what it reads. */
import { parseLogLine } from "@svc/runtime";
import {
  closeFile,
  linesBackwards,
  LineSplitter,
  type LogLine,
  newestFirst,
  type OpenFile,
  openFile,
  readOn,
  sizeOf,
} from "./read-log.ts";

/** Searched backwards at most: a rare word must not hold up the service while gigabytes are read. */
const MOST_SEARCHED_BYTES = 8 * 1024 * 1024;
/** Read onwards at most. */
const MOST_NEW_BYTES = 1024 * 1024;

export interface LogPage {
  /** The oldest first. */
  readonly lines: readonly LogLine[];
  /** `<device>:<inode>:<offset>`; undefined: there is no file. */
  readonly cursor: string | undefined;
  /** Something that may have matched was not read. */
  readonly isCut: boolean;
}

interface Wanted {
  readonly limit: number;
  readonly after: string | undefined;
  matches(line: LogLine): boolean;
}

/** Throws LOG_UNREADABLE. */
export function logPage(path: string, wanted: Wanted): LogPage {
  const since = wanted.after === undefined ? undefined : newLines(path, wanted.after, wanted);
  return since ?? newest(path, wanted);
}

function newest(path: string, { limit, matches }: Wanted): LogPage {
  const lines: LogLine[] = [];
  let cursor: string | undefined;
  let searched = 0;
  for (const file of newestFirst(path)) {
    try {
      const end = lastLineEnd(file);
      cursor ??= cursorOf(file, end);
      for (const { offset, text } of linesBackwards(file.handle, end)) {
        const line = { text, entry: parseLogLine(text) };
        if (matches(line)) lines.push(line);
        if (lines.length === limit) return { lines: lines.toReversed(), cursor, isCut: false };
        if (searched + end - offset > MOST_SEARCHED_BYTES) return { lines: lines.toReversed(), cursor, isCut: true };
      }
      searched += end;
    } finally {
      closeFile(file);
    }
  }
  return { lines: lines.toReversed(), cursor, isCut: false };
}

/** Undefined: the file of the cursor is gone, or was emptied. */
function newLines(path: string, after: string, { limit, matches }: Wanted): LogPage | undefined {
  const place = after.lastIndexOf(":");
  const [id, offset] = [after.slice(0, place), Number(after.slice(place + 1))];
  const files = [...untilFound(path, id)].toReversed();
  try {
    const [first] = files;
    if (first?.id !== id || offset > sizeOf(first)) return undefined;
    const lines: LogLine[] = [];
    let left = MOST_NEW_BYTES;
    let cursor = after;
    for (const file of files) {
      const splitter = new LineSplitter();
      let at = file === first ? offset : 0;
      const end = lastLineEnd(file);
      while (at < end && left > 0) {
        const bytes = readOn(file.handle, at).subarray(0, end - at);
        if (bytes.length === 0) break;
        at += bytes.length;
        left -= bytes.length;
        for (const text of splitter.push(bytes)) {
          const line = { text, entry: parseLogLine(text) };
          if (matches(line)) lines.push(line);
        }
      }
      cursor = cursorOf(file, at);
      // The rest is too much: the reader goes on from the newest.
      if (at < end) return { ...newest(path, { limit, matches, after: undefined }), isCut: true };
    }
    return { lines: lines.slice(-limit), cursor, isCut: lines.length > limit };
  } finally {
    for (const file of files) closeFile(file);
  }
}

/** The newest file first, down to the one with this id. Open; the caller closes. */
function* untilFound(path: string, id: string): Generator<OpenFile> {
  // The usual case: the file that is written now, without a look at its folder.
  const current = openFile(path);
  if (current?.id === id) return yield current;
  if (current) closeFile(current);
  for (const file of newestFirst(path)) {
    yield file;
    if (file.id === id) return;
  }
}

const cursorOf = ({ id }: OpenFile, offset: number): string => `${id}:${offset}`;

/** Half a line at the end is left for the next time. */
function lastLineEnd(file: OpenFile): number {
  const size = sizeOf(file);
  if (size === 0 || readOn(file.handle, size - 1)[0] === 0x0a) return size;
  const last = linesBackwards(file.handle, size).next();
  return last.done ? 0 : last.value.offset;
}
