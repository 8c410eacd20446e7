/// <reference lib="esnext.temporal" />
/** Cron expressions and time zones: what is wrong with one, and when it is due. */
import { Cron } from "croner";

/** Milliseconds since the epoch; undefined: never (again). */
export interface CronTimes {
  /** The first time strictly after. */
  nextAfter(ms: number): number | undefined;
  /** The last time that is not after. */
  lastUntil(ms: number): number | undefined;
}

/**
 * Five fields (minute to weekday), six with seconds in front, seven with a year behind, or @daily and its like. A time
 * that summer time leaves out comes when the gap is over, one that comes twice is due the first time; of an interval
 * (`*`, `/`) the gap is left out and both are due. Without a time zone UTC.
 */
export function cronTimes(expression: string, timezone: string | undefined): CronTimes | { readonly fault: string } {
  const fault = faultOf(expression);
  if (fault !== undefined) return { fault };
  let cron: Cron;
  try {
    cron = new Cron(expression, { timezone: timezone ?? "UTC", paused: true });
  } catch {
    // croner's sentence quotes what was written.
    return { fault: "a field has a value or form that cron does not know" };
  }
  return {
    nextAfter: (ms) => cron.nextRun(new Date(ms))?.getTime(),
    // croner's own answer is strictly before.
    lastUntil: (ms) => cron.previousRuns(1, new Date(ms + 1))[0]?.getTime(),
  };
}

/** What would be read as a single date is refused too: croner takes one for a schedule. */
function faultOf(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length === 1 && NICKNAMES.has(expression.trim().toLowerCase())) return undefined;
  if (fields.length >= 5 && fields.length <= 7) return undefined;
  return "it has five fields (minute, hour, day, month, weekday), or is one like @daily";
}

const NICKNAMES: ReadonlySet<string> = new Set([
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly",
]);

/** Intl would say the same, a hundred times slower. */
export function isTimeZone(name: string): boolean {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId !== "";
  } catch {
    return false;
  }
}
