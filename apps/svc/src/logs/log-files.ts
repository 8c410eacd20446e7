/** The files of the log as a reader finds them: told apart by what they are, as their names change under it. */
import { closeSync, constants, fstatSync, openSync, statSync, type Stats } from "node:fs";
import { SvcError } from "@svc/contract";
import { asideNumbers } from "@svc/runtime";

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
export function oldest(path: string): OpenFile | undefined {
  let last: OpenFile | undefined;
  for (const file of newestFirst(path)) {
    if (last) closeFile(last);
    last = file;
  }
  return last;
}

/** The file that the log went on in after `file`; undefined while it is still the current one. */
export function successor(path: string, file: OpenFile): OpenFile | undefined {
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
