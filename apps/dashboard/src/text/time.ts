/** Times as people say them. The exact one is always a title away. */

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "2 minutes ago", "in 3 hours". */
export function relative(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1000);
  if (Math.abs(seconds) < 45) return seconds > 5 ? "in a moment" : "just now";
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size * 0.75) ?? ["minute", 60];
  const count = Math.round(seconds / size);
  return format.format(count === 0 ? Math.sign(seconds) : count, unit);
}

/** In the reader's own zone, to the second. */
export const exact = (atMs: number): string =>
  new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" }).format(atMs);

/** "18:20", in the reader's own zone. */
export const clockTime = (at: string): string =>
  new Intl.DateTimeFormat("en-GB", { timeStyle: "short" }).format(Date.parse(at));

/** `0.4 s`, `12 s`, `3 min 4 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return two(whole, 60, "min", 1, "s");
  if (whole < 86_400) return two(whole, 3_600, "h", 60, "min");
  return two(whole, 86_400, "d", 3_600, "h");
}

function two(seconds: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % big) / small);
  return `${Math.floor(seconds / big)} ${bigUnit}${rest === 0 ? "" : ` ${rest} ${smallUnit}`}`;
}

/** "now", "5 min", "14:03", "Mon", "3 Nov", "2025". */
export function brief(atMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - atMs) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  const [at, now] = [new Date(atMs), new Date(nowMs)];
  if (at.toDateString() === now.toDateString()) {
    return at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  }
  if (minutes < 6 * 1440) return at.toLocaleDateString("en", { weekday: "short" });
  if (minutes < 300 * 1440) return at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return String(at.getFullYear());
}
