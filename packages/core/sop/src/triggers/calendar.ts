/** What cron starts in the next days. Bounded: a service may have thousands of triggers that are due every second. */
import type { SopLibrary } from "../library/types.ts";
import type { SopCalendar, SopTimes } from "../runs/types.ts";
import type { CronTrigger } from "./cron-entry.ts";
import type { CronSchedule } from "./cron-schedule.ts";
import { cronTimes } from "./cron-time.ts";

export interface CalendarOptions {
  readonly library: Pick<SopLibrary, "crons">;
  readonly cron: Pick<CronSchedule, "nextAtMs">;
  readonly nowMs: number;
  readonly days: number;
  /** Of this procedure alone. */
  readonly sop: string | undefined;
}

const DAY_MS = 86_400_000;
const MOST_TRIGGERS = 200;
/** Of one trigger. */
const MOST_TIMES = 48;
/** Of all of them: to work one out takes up to half a millisecond. */
const MOST_TIMES_IN_ALL = 1_000;

export function calendarOf({ library, cron, nowMs, days, sop }: CalendarOptions): SopCalendar {
  const untilMs = nowMs + days * DAY_MS;
  const due = library
    .crons()
    .filter((trigger) => sop === undefined || trigger.sop === sop)
    .flatMap((trigger) => {
      const nextMs = cron.nextAtMs(trigger);
      return nextMs === undefined || nextMs > untilMs ? [] : [{ trigger, nextMs: Math.max(nextMs, nowMs) }];
    })
    .toSorted((one, other) => one.nextMs - other.nextMs);
  const listed = due.slice(0, MOST_TRIGGERS);
  const most = Math.max(1, Math.min(MOST_TIMES, Math.floor(MOST_TIMES_IN_ALL / Math.max(1, listed.length))));
  const times = listed.map(({ trigger, nextMs }) => timesOf(trigger, nextMs, untilMs, most));
  return { fromMs: nowMs, untilMs, times, left: due.length - listed.length };
}

function timesOf(trigger: CronTrigger, firstMs: number, untilMs: number, most: number): SopTimes {
  const times = cronTimes(trigger.expression, trigger.timezone);
  const atMs = [firstMs];
  if ("fault" in times) return { ...trigger, atMs, hasMore: false };
  for (;;) {
    const next = times.nextAfter(atMs.at(-1)!);
    if (next === undefined || next > untilMs) return { ...trigger, atMs, hasMore: false };
    if (atMs.length === most) return { ...trigger, atMs, hasMore: true };
    atMs.push(next);
  }
}
