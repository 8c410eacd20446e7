// Work is over in less than a millisecond, and the clock tells whole ones: durations must not be all 0 or 1, nothing may
// end before it began, and a machine whose clock is set must not tell yesterday's time for ever.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fineTime } from "../src/tracing.ts";

/** A machine whose true time is `atMs`; its clock tells whole milliseconds. */
function machine(startMs: number) {
  let atMs = startMs;
  let setMs = 0;
  const clock = {
    now: () => Math.floor(atMs + setMs),
    monotonic: () => atMs - startMs,
    after: () => () => {},
    sleep: () => Promise.resolve(),
  };
  return {
    now: fineTime(clock),
    pass: (ms: number) => (atMs += ms),
    set: (ms: number) => (setMs += ms),
    truth: () => atMs + setMs,
  };
}

test("it is never more than a millisecond off, never goes back, and tells fractions", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e12, max: 2e12, noNaN: true }),
      fc.array(fc.double({ min: 0, max: 50, noNaN: true }), { minLength: 1, maxLength: 50 }),
      (startMs, steps) => {
        const { now, pass, truth } = machine(startMs);
        let last = now();
        for (const step of steps) {
          pass(step);
          const told = now();
          expect(told).toBeGreaterThanOrEqual(last);
          expect(Math.abs(told - truth())).toBeLessThanOrEqual(1.001);
          last = told;
        }
      },
    ),
  );
});

test("what takes a third of a millisecond takes a third of a millisecond", () => {
  const { now, pass } = machine(1_700_000_000_000);
  const began = now();
  pass(0.3);
  expect(now() - began).toBeCloseTo(0.3, 2);
});

test.each([-3_600_000, 3_600_000, -5, 5])("a clock that is set by %i ms is followed", (byMs) => {
  const { now, pass, set, truth } = machine(1_700_000_000_000);
  now();
  set(byMs);
  pass(1);
  expect(Math.abs(now() - truth())).toBeLessThanOrEqual(1.001);
});
