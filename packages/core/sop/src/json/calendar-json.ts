/** The calendar as /api and `svc sop calendar --json` show it. */
import type * as api from "@svc/api";
import type { SopCalendar } from "../runs/types.ts";
import { instant, orNull } from "./values.ts";

export const calendarJson = ({ fromMs, untilMs, times, left }: SopCalendar): api.SopCalendar => ({
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
