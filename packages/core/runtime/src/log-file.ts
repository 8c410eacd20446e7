/**
 * The log file: `logs/svc.log` of the home, put aside as `svc.log.1`, `.2`, … when it is full. A line is with the system
 * when `write` returns, so that a crash loses none: the rotating streams of npm buffer, and lose the lines that matter.
 * A disk that is full and a folder that can't be written cost the service a line of warning, never its time.
 */
import {
  type Stats,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Clock } from "@svc/contract";
import type { Home } from "@svc/config";
import type { LineSink } from "./log.ts";

export interface LogFileLimits {
  /** Size past which no line takes the file. */
  readonly maxBytes: number;
  /** Files kept, the current one included. */
  readonly maxFiles: number;
}

export interface LogFile extends LineSink {
  /**
   * Throws when it fails for the first time in a row: "… can't be written (ENOSPC) …". From then on lines are dropped in
   * silence, and it tries again every ten seconds.
   */
  write(lines: string): void;
  /** Holds from the next line on. */
  setLimits(limits: LogFileLimits): void;
  /** Lets go of the file. A later line opens it again. */
  close(): void;
}

/** Opens nothing before the first line. */
export function openLogFile(home: Pick<Home, "logsDir">, limits: LogFileLimits, clock: Clock): LogFile {
  return new RotatedFile(logFilePath(home), limits, clock);
}

const RETRY_AFTER_MS = 10_000;
/**
 * Not through a symbolic link, and without waiting for a reader of a FIFO: whatever stands in the file's place, the
 * service does not hang on it. Windows knows neither.
 */
const APPEND =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

class RotatedFile implements LogFile {
  readonly #file: string;
  readonly #clock: Clock;
  #limits: LogFileLimits;
  #handle: number | undefined;
  #id = "";
  /** The file ends in the middle of a line: a crash, or a disk that filled up. */
  #ragged = false;
  #failedAtMs: number | undefined;
  #dropped = 0;

  constructor(file: string, limits: LogFileLimits, clock: Clock) {
    this.#file = file;
    this.#limits = limits;
    this.#clock = clock;
  }

  write(lines: string): void {
    if (this.#failedAtMs !== undefined && this.#clock.monotonic() - this.#failedAtMs < RETRY_AFTER_MS) {
      this.#dropped += countOf(lines);
      return;
    }
    try {
      if (this.#dropped > 0) this.#append(this.#gapLine());
      this.#append(lines);
      this.#failedAtMs = undefined;
      this.#dropped = 0;
    } catch (error) {
      this.#dropped += countOf(lines);
      this.#fail(error);
    }
  }

  setLimits(limits: LogFileLimits): void {
    this.#limits = limits;
  }

  close(): void {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle === undefined) return;
    try {
      closeSync(handle);
    } catch {
      // What a file system has to say at the end (EIO, EDQUOT) comes too late for any line.
    }
  }

  #append(lines: string): void {
    const bytes = Buffer.from(`${lines}\n`);
    const size = this.#ready();
    if (size > 0 && size + bytes.length > this.#limits.maxBytes) {
      // Closed first: Windows renames no open file.
      this.close();
      putAside(this.#file, this.#limits.maxFiles);
      this.#open();
    }
    const whole = this.#ragged ? Buffer.concat([NEWLINE, bytes]) : bytes;
    this.#ragged = true;
    const written = writeSync(this.#handle!, whole);
    if (written < whole.length) throw Object.assign(new Error("the disk took half a line"), { code: "ENOSPC" });
    this.#ragged = false;
  }

  /** Opens the file when it is not the one at its path any more, and tells its size. Two microseconds a line. */
  #ready(): number {
    const there = statSync(this.#file, { throwIfNoEntry: false });
    if (this.#handle !== undefined && there !== undefined && idOf(there) === this.#id) return there.size;
    this.close();
    return this.#open();
  }

  #open(): number {
    makePrivateFolder(dirname(this.#file));
    this.#handle = openSync(this.#file, APPEND, 0o600);
    const stats = fstatSync(this.#handle);
    if (!stats.isFile()) {
      this.close();
      throw Object.assign(new Error("it is no plain file"), { code: "EINVAL" });
    }
    if (process.platform !== "win32" && (stats.mode & 0o077) !== 0)
      ignoringErrors(() => fchmodSync(this.#handle!, 0o600));
    this.#id = idOf(stats);
    this.#ragged = endsRagged(this.#handle, stats.size);
    return stats.size;
  }

  #fail(error: unknown): void {
    const first = this.#failedAtMs === undefined;
    this.#failedAtMs = this.#clock.monotonic();
    this.close();
    const why = (error as NodeJS.ErrnoException).code ?? "unknown";
    if (first) {
      const text = `${this.#file} can't be written (${why}); the log goes on without it, and it is tried again`;
      throw new Error(text, { cause: error });
    }
  }

  /** So that a reader of the file knows that there was more. */
  #gapLine(): string {
    const time = new Date(this.#clock.now()).toISOString();
    return JSON.stringify({ time, level: "warn", message: "the log file could not be written", lost: this.#dropped });
  }
}

const countOf = (lines: string): number => lines.split("\n").length;

const NEWLINE = Buffer.from("\n");

const idOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

function endsRagged(handle: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(handle, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE[0];
}

function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform !== "win32") ignoringErrors(() => closeToOthers(folder));
}

/** By its descriptor: a link in its place is not followed. */
function closeToOthers(folder: string): void {
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchmodSync(handle, 0o700);
  } finally {
    closeSync(handle);
  }
}

/** A folder that the operator lent us from somebody else can still be written to. */
function ignoringErrors(work: () => void): void {
  try {
    work();
  } catch {
    // svc doctor --security says it.
  }
}

/** The names of the log's files: `svc.log` is written, `svc.log.1` is the newest of those put aside. */
export const logFilePath = ({ logsDir }: Pick<Home, "logsDir">): string => join(logsDir, "svc.log");

/** Numbers of the files put aside (`svc.log.3` → 3), the newest first. Empty when the folder can't be read. */
export function asideNumbers(file: string): number[] {
  const name = basename(file);
  try {
    const names = readdirSync(dirname(file)).filter((each) => each.startsWith(`${name}.`));
    const numbers = names.map((each) => each.slice(name.length + 1)).filter((text) => /^[1-9]\d{0,5}$/.test(text));
    return numbers.map(Number).sort((a, b) => a - b);
  } catch {
    return [];
  }
}

/**
 * Makes room for a new `file`; `maxFiles` is how many there will be then, at most. Moves up to the first gap only, so that
 * nothing is pushed out needlessly.
 */
function putAside(file: string, maxFiles: number): void {
  const aside = (number: number): string => `${file}.${number}`;
  const last = maxFiles - 1;
  const there = asideNumbers(file);
  for (const number of there) if (number > last) rmSync(aside(number), { force: true });
  if (last === 0) return rmSync(file, { force: true });
  let free = 1;
  while (free < last && there.includes(free)) free += 1;
  for (let number = free; number > 1; number -= 1) renameSync(aside(number - 1), aside(number));
  renameSync(file, aside(1));
}
