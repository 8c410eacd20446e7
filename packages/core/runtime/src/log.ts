/**
 * The one logger: a JSON object a line for machines, a readable line for people, and never a secret in either. What is
 * written goes to standard error and, beside it, to the log file, which is JSON whoever looks at the terminal. A line says
 * by itself for which request, turn and trace it was written.
 */
import type { Clock, LogFields, Logger } from "@svc/contract";
import { type KnownSecret, createRedactor } from "@svc/config";
import { currentScope } from "./tracing.ts";

export interface LoggerOptions extends LogOutputOptions {
  /** Least severe level written. */
  readonly level: LogLevel;
  readonly clock: Clock;
  /** Secrets known at start; `setSecrets` replaces them. */
  readonly redact?: () => readonly KnownSecret[];
}

export interface RuntimeLogger extends Logger {
  /** The same sink with `fields` on every line. */
  child(fields: LogFields): RuntimeLogger;
  /** Secrets of the configuration in force. Holds for every child too. */
  setSecrets(secrets: readonly KnownSecret[]): void;
  /** Least severe level from now on. Holds for every child too. */
  setLevel(level: LogLevel): void;
  /** The file written from now on; `undefined`: none. Holds for every child too, and closes nothing. */
  setFile(file: LineSink | undefined): void;
  /** `text` as it would be logged; for anything else that leaves the process. */
  redact(text: string): string;
  /** How many characters at the end of `text` may be the beginning of a secret (`Redactor.partial`). */
  partialSecret(text: string): number;
  enabled(level: LogLevel): boolean;
}

export function createLogger(options: LoggerOptions): RuntimeLogger {
  const redactor = createRedactor(options.redact?.());
  const output = new LogOutput(options);
  const timeOf = isoTime();
  const plainLines = new PlainLines();
  let least = LOG_LEVELS.indexOf(options.level);

  const loggerWith = (bound: LogFields): RuntimeLogger => {
    const at =
      (level: LogLevel, rank: number): Logger["info"] =>
      (message, fields) => {
        if (rank < least) return;
        const time = timeOf(options.clock.now());
        // Nearly every line is plain and has no secret in it: it is made and looked through once.
        const line = output.isJson ? plainLines.make({ time, level, message }, bound, fields) : undefined;
        if (line !== undefined && redactor.redact(line) === line) output.writeLine({ time, level }, line);
        else output.write({ time, level, ...redacted(message, pairsOf(bound, fields), redactor.redact) });
      };
    return Object.freeze({
      debug: at("debug", 0),
      info: at("info", 1),
      warn: at("warn", 2),
      error: at("error", 3),
      child: (fields: LogFields) => loggerWith({ ...bound, ...fields }),
      setSecrets: redactor.setSecrets,
      setLevel: (level: LogLevel) => void (least = LOG_LEVELS.indexOf(level)),
      setFile: output.setFile,
      redact: redactor.redact,
      partialSecret: redactor.partial,
      enabled: (level: LogLevel) => LOG_LEVELS.indexOf(level) >= least,
    });
  };
  return loggerWith({});
}

/** `log` with `fields` on every line; for any logger, whoever made it. */
export function withFields(log: Logger, fields: LogFields): Logger {
  if ("child" in log) return (log as RuntimeLogger).child(fields);
  const merged = (own: LogFields | undefined): LogFields => ({ ...fields, ...own });
  return {
    debug: (message, own) => log.debug(message, merged(own)),
    info: (message, own) => log.info(message, merged(own)),
    warn: (message, own) => log.warn(message, merged(own)),
    error: (message, own) => log.error(message, merged(own)),
  };
}

/** ISO 8601, UTC. Lines come in bunches: a millisecond is spelled out once. */
function isoTime(): (atMs: number) => string {
  let lastMs = NaN;
  let last = "";
  return (atMs) => {
    if (atMs === lastMs) return last;
    lastMs = atMs;
    return (last = new Date(atMs).toISOString());
  };
}

/** Fields of the logger, then whose line it is that is written now, then those of the line. The later ones hold. */
function pairsOf(bound: LogFields, fields: LogFields = NO_FIELDS): LogPair[] {
  const pairs: LogPair[] = [];
  const { request, turn, traceparent } = currentScope();
  for (const name in bound) put(pairs, name, bound[name]);
  if (request !== undefined) put(pairs, "request", request);
  if (turn !== undefined) put(pairs, "turn", turn);
  // The id under which a tracing backend shows it.
  if (traceparent !== undefined) put(pairs, "trace", traceOf(traceparent));
  for (const name in fields) put(pairs, name, fields[name]);
  return pairs;
}

const NO_FIELDS: LogFields = {};

function put(pairs: LogPair[], name: string, value: LogFields[string]): void {
  const at = pairs.findIndex(([other]) => other === name);
  if (at >= 0) pairs.splice(at, 1, ...(value === undefined ? [] : [[name, value] as const]));
  else if (value !== undefined) pairs.push([name, value]);
}

/** In a `traceparent`, after its version. */
const TRACE_AT = 3;
const TRACE_LENGTH = 32;
const traceOf = (traceparent: string): string => traceparent.slice(TRACE_AT, TRACE_AT + TRACE_LENGTH);

/** Names and values both: a secret used as a name, or a number that is one, is as readable as any other. */
function redacted(
  message: string,
  pairs: readonly LogPair[],
  redact: (text: string) => string,
): Pick<LogEntry, "message" | "fields"> {
  let whole = message;
  for (const [name, value] of pairs) whole += `\n${name}\n${value}`;
  if (redact(whole) === whole) return { message, fields: pairs };
  return { message: redact(message), fields: pairs.map(([name, value]) => [redact(name), cleanValue(value, redact)]) };
}

function cleanValue(value: LogPair[1], redact: (text: string) => string): LogPair[1] {
  const text = String(value);
  const clean = redact(text);
  return clean === text ? value : clean;
}

// A line of the log: as JSON in the file and for machines, readable for people, and back again.

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogPair = readonly [name: string, value: string | number | boolean];

export interface LogEntry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: readonly LogPair[];
}

const OWN_NAMES: ReadonlySet<string> = new Set(["time", "level", "message", "__proto__"]);

/** Makes the line of an entry in which JSON has nothing to escape, as nearly every one is. */
class PlainLines {
  /** Code has few names, and uses them again and again. */
  readonly #names = new Set<string>();

  /** What `jsonLine` makes; undefined where JSON has something to escape, or a field takes the place of another. */
  make(
    { time, level, message }: Omit<LogEntry, "fields">,
    bound: LogFields,
    fields: LogFields = NO_FIELDS,
  ): string | undefined {
    if (!PLAIN.test(message)) return undefined;
    const { request, turn, traceparent } = currentScope();
    const trace = traceparent && traceOf(traceparent);
    const isOfScope = (name: string): boolean =>
      (name === "request" && request !== undefined) ||
      (name === "turn" && turn !== undefined) ||
      (name === "trace" && trace !== undefined);
    let line: string | undefined = `{"time":"${time}","level":"${level}","message":"${message}"`;
    for (const name in bound) {
      if (isOfScope(name)) return undefined;
      line = this.#with(line, name, bound[name]);
    }
    line = this.#with(this.#with(this.#with(line, "request", request), "turn", turn), "trace", trace);
    for (const name in fields) {
      if (name in bound || isOfScope(name)) return undefined;
      line = this.#with(line, name, fields[name]);
    }
    return line && `${line}}`;
  }

  #with(line: string | undefined, name: string, value: LogFields[string]): string | undefined {
    if (value === undefined || line === undefined) return line;
    if (!this.#isPlain(name)) return undefined;
    if (typeof value === "string") return PLAIN.test(value) ? `${line},"${name}":"${value}"` : undefined;
    return typeof value === "number" && !Number.isFinite(value) ? undefined : `${line},"${name}":${value}`;
  }

  #isPlain(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (!PLAIN_NAME.test(name) || OWN_NAMES.has(name)) return false;
    if (this.#names.size < MOST_NAMES) this.#names.add(name);
    return true;
  }
}

/** That are remembered. */
const MOST_NAMES = 1_000;

/** Printable ASCII without the quote and the backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;
/** An object keeps these names in their order. */
const PLAIN_NAME = /^[A-Za-z][\w.-]*$/;

export function jsonLine({ time, level, message, fields }: LogEntry): string {
  const line: Record<string, string | number | boolean> = { time, level, message };
  for (const [name, value] of fields) line[OWN_NAMES.has(name) ? `${name}_` : name] = value;
  // JSON leaves DEL and the C1 characters as they are, and `cat` hands them to the terminal.
  return visible(JSON.stringify(line));
}

export function readableLine({ time, level, message, fields }: LogEntry): string {
  const words = [time, level.padEnd(5), visible(message)];
  for (const [name, value] of fields) words.push(`${visible(name)}=${readableValue(value)}`);
  return words.join(" ");
}

/** What `jsonLine` made; undefined for anything else. */
export function parseLogLine(text: string): LogEntry | undefined {
  const line = parsedObject(text);
  if (line === undefined) return undefined;
  const { time, level, message, ...rest } = line;
  if (typeof time !== "string" || typeof message !== "string" || !isLevel(level)) return undefined;
  return { time, level, message, fields: Object.entries(rest).map(asPair) };
}

/**
 * A line break in a message forges a line, an escape sequence drives the reader's terminal, a bidirectional mark lies to
 * the eye.
 */
export function visible(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Control characters, line separators, and what Unicode calls Bidi_Control; spelled out, as that is twice as fast. */
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function readableValue(value: string | number | boolean): string {
  const text = String(value);
  return /^[^\s"=\p{Cc}\p{Bidi_Control}]+$/u.test(text) ? text : visible(JSON.stringify(text));
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

const isLevel = (value: unknown): value is LogLevel => (LOG_LEVELS as readonly unknown[]).includes(value);

/** Of somebody else's line a field may be anything. */
const asPair = ([name, value]: [string, unknown]): LogPair => [
  name,
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : JSON.stringify(value),
];

interface LogOutputOptions {
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

/** Both places a line of the log goes to. Neither is ever the reason why the other, or the caller, fails. */
class LogOutput {
  readonly #write: LogOutputOptions["write"];
  readonly #later: LogOutputOptions["later"];
  readonly isJson: boolean;
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
    this.isJson = json;
    this.#file = file;
  }

  readonly setFile = (file: LineSink | undefined): void => {
    this.#flush();
    this.#file = file;
  };

  write(entry: LogEntry): void {
    if (!this.isJson && this.#file !== undefined) this.#filed = joined(this.#filed, jsonLine(entry));
    this.writeLine(entry, this.isJson ? jsonLine(entry) : readableLine(entry));
  }

  /** `line`: as it is said. */
  writeLine(entry: Pick<LogEntry, "time" | "level">, line: string): void {
    this.#time = entry.time;
    this.#said = joined(this.#said, line);
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
    const filed = this.isJson ? said : this.#filed;
    this.#said = this.#filed = "";
    this.#say(said);
    try {
      this.#file?.write(filed);
    } catch (error) {
      const { message } = error as Error;
      const trouble: LogEntry = { time: this.#time, level: "warn", message, fields: [] };
      this.#say(this.isJson ? jsonLine(trouble) : readableLine(trouble));
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
