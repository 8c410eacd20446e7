/** A line of the log: as JSON in the file and for machines, readable for people, and back again. */
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
