/** Times, sizes and amounts of money in the page's language. */
import { dates, language, number, t } from "./texts.ts";

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "2 minutes ago", "in 3 hours". */
export function relative(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1000);
  if (Math.abs(seconds) < 45) return seconds > 5 ? t("time.in-a-moment") : t("time.just-now");
  const format = new Intl.RelativeTimeFormat(language(), { numeric: "auto" });
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size * 0.75) ?? ["minute", 60];
  const count = Math.round(seconds / size);
  return format.format(count === 0 ? Math.sign(seconds) : count, unit);
}

/** In the reader's own zone, to the second. */
export const exact = (atMs: number): string => dates({ dateStyle: "medium", timeStyle: "medium" }).format(atMs);

/** "18:20", in the reader's own zone. */
export const clockTime = (at: string): string => dates({ timeStyle: "short" }).format(Date.parse(at));

/** `0.4 s`, `12 s`, `3 min 4 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) {
    return t("unit.s", { n: number(seconds, { minimumFractionDigits: 1, maximumFractionDigits: 1 }) });
  }
  const whole = Math.round(seconds);
  if (whole < 60) return t("unit.s", { n: whole });
  if (whole < 3_600) return two(whole, [60, "unit.min"], [1, "unit.s"]);
  if (whole < 86_400) return two(whole, [3_600, "unit.h"], [60, "unit.min"]);
  return two(whole, [86_400, "unit.d"], [3_600, "unit.h"]);
}

type Unit = readonly [seconds: number, key: "unit.s" | "unit.min" | "unit.h" | "unit.d"];

function two(seconds: number, [big, bigUnit]: Unit, [small, smallUnit]: Unit): string {
  const rest = Math.floor((seconds % big) / small);
  const first = t(bigUnit, { n: Math.floor(seconds / big) });
  return rest === 0 ? first : `${first} ${t(smallUnit, { n: rest })}`;
}

/** "now", "5 min", "14:03", "Mon", "3 Nov", "2025". */
export function brief(atMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - atMs) / 60_000);
  if (minutes < 1) return t("time.now");
  if (minutes < 60) return t("unit.min", { n: minutes });
  const [at, now] = [new Date(atMs), new Date(nowMs)];
  if (at.toDateString() === now.toDateString()) return dates({ hour: "2-digit", minute: "2-digit" }).format(at);
  if (minutes < 6 * 1440) return dates({ weekday: "short" }).format(at);
  if (minutes < 300 * 1440) return dates({ day: "numeric", month: "short" }).format(at);
  return String(at.getFullYear());
}

/** Numbers of the service as people read them. */
const SIZE_UNITS = ["unit.b", "unit.kb", "unit.mb", "unit.gb"] as const;

/** `12.3 MB` */
export function bytes(n: number): string {
  const power = Math.min(SIZE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, n)) / 3));
  const digits = power === 0 ? 0 : 1;
  const size = number(n / 1000 ** power, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return t(SIZE_UNITS[power] ?? "unit.b", { n: size });
}

/** `145 kB`, `1.5 MB` */
export const fileSize = (n: number): string =>
  n >= 1000 && n < 1_000_000 ? t("unit.kb", { n: Math.round(n / 1000) }) : bytes(n);

export function dollars(usd: number): string {
  const digits = usd < 1 ? 4 : 2;
  const precision = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return number(usd, { style: "currency", currency: "USD", ...precision });
}
