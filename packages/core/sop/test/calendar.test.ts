// A calendar that misses a start, keeps the service busy for minutes, or lets one trigger hide all others.
import { expect, test } from "vitest";
import { calendarOf } from "../src/triggers/cron-schedule.ts";
import { cronTimes } from "../src/triggers/cron-time.ts";

const nowMs = Date.parse("2026-03-02T10:00:00Z");

function calendar(expressions: readonly (readonly [string, string?])[], days = 7, sop?: string) {
  const crons = expressions.map(([expression, timezone], index) => ({ sop: `s${index}`, expression, timezone }));
  let asked = 0;
  const cron = {
    nextAtMs: ({ expression, timezone }: (typeof crons)[number]) => {
      asked += 1;
      const times = cronTimes(expression, timezone);
      return "fault" in times ? undefined : times.nextAfter(nowMs);
    },
  };
  return { asked: () => asked, ...calendarOf({ library: { crons: () => crons }, cron, nowMs, days, sop }) };
}
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

test("lists each start in the days asked for, by the first", () => {
  const { times } = calendar([["0 4 * * *", "Europe/Berlin"], ["30 10 2 3 *"], ["0 0 1 1 *"]]);
  expect(times.map(({ sop, atMs }) => [sop, atMs.length, iso(atMs[0]!)])).toEqual([
    ["s1", 1, "2026-03-02T10:30"],
    ["s0", 7, "2026-03-03T03:00"],
  ]);
});

test("one that is due every second is cut, and hides no other", () => {
  const { times } = calendar([["* * * * * *"], ["0 12 * * *"]]);
  expect(times.map(({ sop, atMs, hasMore }) => [sop, atMs.length, hasMore])).toEqual([
    ["s0", 48, true],
    ["s1", 7, false],
  ]);
});

test("works out a bounded number of times, and says what it left out", () => {
  const { times, left } = calendar(Array.from({ length: 500 }, () => ["* * * * *"] as const));
  expect(times).toHaveLength(200);
  expect(left).toBe(300);
  expect(times.every(({ atMs, hasMore }) => atMs.length === 5 && hasMore)).toBe(true);
});

test("of one procedure alone", () => {
  expect(calendar([["0 4 * * *"], ["0 5 * * *"]], 1, "s1").times.map(({ sop }) => sop)).toEqual(["s1"]);
});
