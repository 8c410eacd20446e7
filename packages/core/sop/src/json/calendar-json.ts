/** The calendar as /api and `svc sop calendar --json` show it. */
import type { Json } from "@svc/contract";
import type { SopCalendar } from "../runs/types.ts";
import { instant, orNull } from "./values.ts";

export const calendarJson = ({ fromMs, untilMs, times, left }: SopCalendar): Json => ({
  from: instant(fromMs),
  until: instant(untilMs),
  times: times.map(({ sop, expression, timezone, atMs, hasMore }) => ({
    sop,
    expression,
    timezone: orNull(timezone),
    at: atMs.map(instant),
    more: hasMore,
  })),
  left,
});
