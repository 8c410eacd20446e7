// Cron is read by a library; this is what the rest relies on: strictly after, in the zone's own time, once where the clock is
// set back and not never where it is set forward.
import { execFileSync } from "node:child_process";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronTimes, isTimeZone } from "../src/triggers/cron-time.ts";

const timesOf = (expression: string, timezone?: string) => {
  const times = cronTimes(expression, timezone);
  if ("fault" in times) throw new Error(times.fault);
  return times;
};
/** All between two instants, as a person in UTC sees them. */
function between(expression: string, timezone: string, from: string, until: string): string[] {
  const times = timesOf(expression, timezone);
  const found: string[] = [];
  for (
    let at = times.nextAfter(Date.parse(from));
    at !== undefined && at < Date.parse(until);
    at = times.nextAfter(at)
  ) {
    found.push(new Date(at).toISOString().slice(5, 16));
  }
  return found;
}

describe("summer time", () => {
  test.each([
    // 02:00 becomes 03:00: what falls into the gap comes at its end.
    ["Europe/Berlin", "30 2 * * *", "2026-03-28T03:00Z", "2026-03-31T00:00Z", ["03-29T01:00", "03-30T00:30"]],
    ["America/New_York", "30 2 * * *", "2026-03-07T12:00Z", "2026-03-10T00:00Z", ["03-08T07:00", "03-09T06:30"]],
    // 03:00 becomes 02:00: what comes twice is due the first time.
    ["Europe/Berlin", "30 2 * * *", "2026-10-24T12:00Z", "2026-10-27T00:00Z", ["10-25T00:30", "10-26T01:30"]],
    ["America/New_York", "30 1 * * *", "2026-10-31T12:00Z", "2026-11-03T00:00Z", ["11-01T05:30", "11-02T06:30"]],
    // What is always due goes on without a gap and without a double.
    [
      "Europe/Berlin",
      "*/30 * * * *",
      "2026-03-29T00:15Z",
      "2026-03-29T02:15Z",
      ["03-29T00:30", "03-29T01:00", "03-29T01:30", "03-29T02:00"],
    ],
    [
      "America/New_York",
      "0 * * * *",
      "2026-11-01T04:30Z",
      "2026-11-01T08:30Z",
      ["11-01T05:00", "11-01T06:00", "11-01T07:00", "11-01T08:00"],
    ],
  ])("%s %s from %s", (timezone, expression, from, until, expected) => {
    expect(between(expression, timezone, from, until)).toEqual(expected);
  });
});

test.each([
  "",
  " ",
  "* * * *",
  "* * * * * * * *",
  "60 * * * *",
  "* 24 * * *",
  "* * 0 * *",
  "* * * 13 *",
  "* * * * 8",
  "*/0 * * * *",
  "a * * * *",
  "2026-01-01T00:00:00Z",
  "2026-01-01",
  "@reboot",
  "@every 5m",
  "1-0 * * * *",
  "- * * * *",
  "* * * * * *junk",
])("%j is no expression", (expression) => {
  expect(cronTimes(expression, undefined)).toEqual({ fault: expect.any(String) });
});

test.each([
  "@daily",
  "@HOURLY",
  "0 9 * * MON-FRI",
  "  0   9 * * * ",
  "0 0 L * *",
  "*/10 * * * * *",
  "0 0 9 1 1 * 2030",
])("%j is one", (expression) => {
  expect(timesOf(expression).nextAfter(Date.UTC(2026, 0, 1))).toBeGreaterThan(Date.UTC(2026, 0, 1));
});

test("what never comes is never due", () => {
  for (const expression of ["0 0 30 2 *", "0 0 0 1 1 * 2020"])
    expect(timesOf(expression).nextAfter(Date.UTC(2026, 0, 1))).toBeUndefined();
});

test.each([
  ["Europe/Berlin", true],
  ["UTC", true],
  ["US/Pacific", true],
  ["Mars/Base", false],
  ["", false],
  ["Europe/Berlin; x", false],
])("%s is a time zone: %s", (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});

test("without a time zone it is UTC, wherever the machine stands", () => {
  const file = new URL("../src/triggers/cron-time.ts", import.meta.url).href;
  const script = `const { cronTimes } = await import(${JSON.stringify(file)});
    console.log(new Date(cronTimes("0 9 * * *").nextAfter(0)).toISOString());`;
  const env = { ...process.env, TZ: "Asia/Tokyo" };
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" });
  expect(said.trim()).toBe("1970-01-01T09:00:00.000Z");
});

test("the last time until a time, and the next after it, leave nothing between them", () => {
  const expression = fc.constantFrom("*/5 * * * *", "30 2 * * *", "0 9 * * 1-5", "0 0 1 * *", "15 1,13 * * *");
  const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu");
  const instant = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2028, 0, 1) });
  fc.assert(
    fc.property(expression, zone, instant, (text, timezone, ms) => {
      const times = timesOf(text, timezone);
      const last = times.lastUntil(ms)!;
      const next = times.nextAfter(ms)!;
      expect(last).toBeLessThanOrEqual(ms);
      expect(next).toBeGreaterThan(ms);
      expect(times.nextAfter(last)).toBe(next);
      expect(times.lastUntil(next)).toBe(next);
      expect(times.lastUntil(next - 1)).toBe(last);
    }),
    { numRuns: cases(300) },
  );
});
