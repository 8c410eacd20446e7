import type { HrTime } from "@opentelemetry/api";

/** Seconds and nanoseconds: a plain number would be taken as the time since the process began, where it is small. */
export function hrTimeOf(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1000);
  const nanoseconds = Math.round((epochMs - seconds * 1000) * 1_000_000);
  return nanoseconds < 1_000_000_000 ? [seconds, nanoseconds] : [seconds + 1, 0];
}
