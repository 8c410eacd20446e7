/** Both places a line of the log goes to. Neither is ever the reason why the other, or the caller, fails. */
import { jsonLine, type LogEntry, type LogLevel, readableLine } from "./log-line.ts";

export interface LogOutputOptions {
  /** Takes one or more lines, without the last line break. What it throws (a closed pipe) is swallowed. */
  readonly write: (lines: string) => void;
  /** True where nobody reads along: standard error is not a terminal. */
  readonly json: boolean;
  /** Takes every line as JSON. What it throws is said by `write`, as a warning. */
  readonly file?: LineSink;
  /**
   * Calls back before long, once, whatever happens. Lines that warn of nothing are written then, all of them at once: a
   * write for each would cost a busy service more than what they tell of. Default: every line is written at once.
   */
  readonly later?: (flush: () => void) => void;
}

export interface LineSink {
  /** One or more lines, without the last line break. */
  write(lines: string): void;
}

/** Characters that wait at most. */
const MOST_WAITING = 65_536;

const CAN_WAIT: ReadonlySet<LogLevel> = new Set(["debug", "info"]);

export class LogOutput {
  readonly #write: LogOutputOptions["write"];
  readonly #later: LogOutputOptions["later"];
  readonly #json: boolean;
  #file: LineSink | undefined;
  #said = "";
  /** For the file, where that is not what is said. */
  #filed = "";
  /** Of the last line. */
  #time = "";
  #isAwaited = false;

  constructor({ write, json, file, later }: LogOutputOptions) {
    this.#write = write;
    this.#later = later;
    this.#json = json;
    this.#file = file;
  }

  readonly setFile = (file: LineSink | undefined): void => {
    this.#flush();
    this.#file = file;
  };

  write(entry: LogEntry): void {
    this.#time = entry.time;
    const json = this.#json || this.#file !== undefined ? jsonLine(entry) : "";
    this.#said = joined(this.#said, this.#json ? json : readableLine(entry));
    if (!this.#json && this.#file !== undefined) this.#filed = joined(this.#filed, json);
    if (this.#later === undefined || !CAN_WAIT.has(entry.level) || this.#said.length > MOST_WAITING) this.#flush();
    else if (!this.#isAwaited) {
      this.#isAwaited = true;
      this.#later(() => {
        this.#isAwaited = false;
        this.#flush();
      });
    }
  }

  #flush(): void {
    if (this.#said === "") return;
    const said = this.#said;
    const filed = this.#json ? said : this.#filed;
    this.#said = this.#filed = "";
    this.#say(said);
    try {
      this.#file?.write(filed);
    } catch (error) {
      const { message } = error as Error;
      const trouble: LogEntry = { time: this.#time, level: "warn", message, fields: [] };
      this.#say(this.#json ? jsonLine(trouble) : readableLine(trouble));
    }
  }

  #say(lines: string): void {
    try {
      this.#write(lines);
    } catch {
      // A closed pipe. Nobody is left to be told.
    }
  }
}

const joined = (lines: string, line: string): string => (lines === "" ? line : `${lines}\n${line}`);
