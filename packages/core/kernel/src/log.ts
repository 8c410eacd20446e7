/** The one log sink: a JSON object a line for machines, a readable line for people, and never a secret in either. */
import type { Clock, LogFields, Logger } from "@svc/contract";
import { createRedactor } from "./redact.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** Least severe level written. */
  readonly level: LogLevel;
  /** Takes one line, without its line break. What it throws (a closed pipe) is swallowed. */
  readonly write: (line: string) => void;
  /** True where nobody reads along: standard error is not a terminal. */
  readonly json: boolean;
  readonly clock: Clock;
  /** Secrets known at start; `setSecrets` replaces them. */
  readonly redact?: () => readonly string[];
}

export interface KernelLogger extends Logger {
  /** The same sink with `fields` on every line. */
  child(fields: LogFields): KernelLogger;
  /** Secrets of the configuration in force. Holds for every child too. */
  setSecrets(secrets: readonly string[]): void;
  /** `text` as it would be logged; for anything else that leaves the process. */
  redact(text: string): string;
  enabled(level: LogLevel): boolean;
}

export function createLogger(options: LoggerOptions): KernelLogger {
  const redactor = createRedactor(options.redact?.());
  const least = LOG_LEVELS.indexOf(options.level);
  const format = options.json ? jsonLine : readableLine;

  const loggerWith = (bound: LogFields): KernelLogger => {
    const at =
      (level: LogLevel, rank: number): Logger["info"] =>
      (message, fields) => {
        if (rank < least) return;
        const time = new Date(options.clock.now()).toISOString();
        const pairs = redactFields(fields === undefined ? bound : { ...bound, ...fields }, redactor.redact);
        try {
          options.write(format(time, level, redactor.redact(message), pairs));
        } catch {
          // Logging is never the reason why something else fails.
        }
      };
    return Object.freeze({
      debug: at("debug", 0),
      info: at("info", 1),
      warn: at("warn", 2),
      error: at("error", 3),
      child: (fields: LogFields) => loggerWith({ ...bound, ...fields }),
      setSecrets: redactor.setSecrets,
      redact: redactor.redact,
      enabled: (level: LogLevel) => LOG_LEVELS.indexOf(level) >= least,
    });
  };
  return loggerWith({});
}

/** `log` with `fields` on every line; for any logger, whoever made it. */
export function withFields(log: Logger, fields: LogFields): Logger {
  if ("child" in log) return (log as KernelLogger).child(fields);
  const merged = (own: LogFields | undefined): LogFields => ({ ...fields, ...own });
  return {
    debug: (message, own) => log.debug(message, merged(own)),
    info: (message, own) => log.info(message, merged(own)),
    warn: (message, own) => log.warn(message, merged(own)),
    error: (message, own) => log.error(message, merged(own)),
  };
}

type Pair = readonly [name: string, value: string | number | boolean];

/** Names and values both: a secret used as a name, or a number that is one, is as readable as any other. */
function redactFields(fields: LogFields, redact: (text: string) => string): Pair[] {
  const pairs: Pair[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const text = String(value);
    const clean = redact(text);
    pairs.push([redact(name), clean === text ? value : clean]);
  }
  return pairs;
}

const OWN_NAMES: ReadonlySet<string> = new Set(["time", "level", "message", "__proto__"]);

function jsonLine(time: string, level: LogLevel, message: string, pairs: readonly Pair[]): string {
  const line: Record<string, string | number | boolean> = { time, level, message };
  for (const [name, value] of pairs) line[OWN_NAMES.has(name) ? `${name}_` : name] = value;
  return JSON.stringify(line);
}

function readableLine(time: string, level: LogLevel, message: string, pairs: readonly Pair[]): string {
  const words = [time, level.padEnd(5), visible(message)];
  for (const [name, value] of pairs) words.push(`${visible(name)}=${readableValue(value)}`);
  return words.join(" ");
}

function readableValue(value: string | number | boolean): string {
  const text = String(value);
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : visible(JSON.stringify(text));
}

/** A line break in a message forges a line, an escape sequence drives the reader's terminal, a bidi mark lies to the eye. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
