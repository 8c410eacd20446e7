/** Which lines of the log somebody wants to see. All that is asked for must hold. */
import { isTraceparent, SvcError } from "@svc/contract";
import { LOG_LEVELS, type LogEntry, type LogLevel } from "@svc/runtime";
import type { LogLine } from "./read-log.ts";

export interface LogFilters {
  /** Least severe. */
  readonly level: LogLevel | undefined;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number | undefined;
  /** Fields with their values, as text. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Id of a channel: its own lines, and those of the feature that it belongs to. */
  readonly channel: string | undefined;
  /** Somewhere in the message or in a value, whatever its case. */
  readonly grep: string | undefined;
}

export function matcher(filters: LogFilters): (line: LogLine) => boolean {
  const { level, sinceMs, fields, channel } = filters;
  const grep = filters.grep?.toLowerCase();
  const isAboutEntries = level !== undefined || sinceMs !== undefined || channel !== undefined || fields.length > 0;
  return ({ entry, text }) => {
    // What is no line of ours has neither level nor time nor fields: shown only to who asks for none of them.
    if (entry === undefined) return !isAboutEntries && (grep === undefined || text.toLowerCase().includes(grep));
    return (
      (level === undefined || LOG_LEVELS.indexOf(entry.level) >= LOG_LEVELS.indexOf(level)) &&
      (sinceMs === undefined || Date.parse(entry.time) >= sinceMs) &&
      fields.every(([name, value]) => hasField(entry, name, value)) &&
      (channel === undefined || isOfChannel(entry, channel)) &&
      (grep === undefined || holds(entry, grep))
    );
  };
}

const hasField = ({ fields }: LogEntry, name: string, value: string): boolean =>
  fields.some(([each, has]) => each === name && String(has) === value);

/** A channel `provider_a` comes from the feature `channel-provider-a`. */
const isOfChannel = (entry: LogEntry, channel: string): boolean =>
  hasField(entry, "channel", channel) || hasField(entry, "feature", `channel-${channel.replaceAll("_", "-")}`);

const holds = ({ message, fields }: LogEntry, text: string): boolean =>
  message.toLowerCase().includes(text) || fields.some(([, value]) => String(value).toLowerCase().includes(text));

/** `name=value`. Throws USAGE. */
export function fieldOf(text: string): readonly [name: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new SvcError("USAGE", "--field must be name=value.");
  return [text.slice(0, at), text.slice(at + 1)];
}

/** The id alone, also of a whole `traceparent`; ids are written small. */
export function traceIdOf(text: string): string {
  const given = text.trim().toLowerCase();
  return isTraceparent(given) ? given.split("-")[1]! : given;
}

/** `--since`: how long ago (`90s`, `10m`, `2h`, `7d`), or when (`2026-03-01`, `2026-03-01T12:30`, with `Z` or an offset). */
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** Milliseconds since the epoch; undefined for what is neither. A time without an offset is local, a date alone UTC. */
export function parseSince(text: string, nowMs: number): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return nowMs - Number(count) * UNIT_MS[unit]!;
  const ms = DATE.test(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
