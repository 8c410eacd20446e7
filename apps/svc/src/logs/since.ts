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
