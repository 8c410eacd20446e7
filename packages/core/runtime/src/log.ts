/**
 * The one logger: a JSON object a line for machines, a readable line for people, and never a secret in either. What is
 * written goes to standard error and, beside it, to the log file, which is JSON whoever looks at the terminal. A line says
 * by itself for which request, turn and trace it was written.
 */
import type { Clock, LogFields, Logger } from "@svc/contract";
import { LOG_LEVELS, type LogEntry, type LogLevel, type LogPair } from "./log-line.ts";
import { type LineSink, LogOutput, type LogOutputOptions } from "./log-output.ts";
import { type KnownSecret, createRedactor } from "@svc/config";
import { currentScope } from "./scope.ts";

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
  let least = LOG_LEVELS.indexOf(options.level);

  const loggerWith = (bound: LogFields): RuntimeLogger => {
    const at =
      (level: LogLevel, rank: number): Logger["info"] =>
      (message, fields) => {
        if (rank < least) return;
        const time = timeOf(options.clock.now());
        const said = redacted(message, { ...bound, ...scopeFields(), ...fields }, redactor.redact);
        output.write({ time, level, ...said });
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

/** Whose line it is that is written now. `trace` is the id under which a tracing backend shows it. */
function scopeFields(): LogFields {
  const { request, turn, traceparent } = currentScope();
  return {
    ...(request !== undefined && { request }),
    ...(turn !== undefined && { turn }),
    ...(traceparent !== undefined && { trace: traceparent.slice(TRACE_AT, TRACE_AT + TRACE_LENGTH) }),
  };
}

/** In a `traceparent`, after its version. */
const TRACE_AT = 3;
const TRACE_LENGTH = 32;

/** Names and values both: a secret used as a name, or a number that is one, is as readable as any other. */
function redacted(
  message: string,
  fields: LogFields,
  redact: (text: string) => string,
): Pick<LogEntry, "message" | "fields"> {
  const pairs: LogPair[] = [];
  // Nearly every line has no secret in it, and is looked through once, not by a dozen of its parts.
  let whole = message;
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    pairs.push([name, value]);
    whole += `\n${name}\n${value}`;
  }
  if (redact(whole) === whole) return { message, fields: pairs };
  return { message: redact(message), fields: pairs.map(([name, value]) => [redact(name), cleanValue(value, redact)]) };
}

function cleanValue(value: LogPair[1], redact: (text: string) => string): LogPair[1] {
  const text = String(value);
  const clean = redact(text);
  return clean === text ? value : clean;
}
