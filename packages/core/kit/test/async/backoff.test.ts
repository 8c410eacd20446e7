// Clients that lost one server together must not all return at once, nor ever more seldom than promised.
import { SvcError } from "@svc/contract";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { retry, retryDelayMs } from "../../src/async/index.ts";

const DELAYS = { firstMs: 1_000, longestMs: 60_000 };

test("doubles with each failure up to the longest, all of it jitter", () => {
  const failures = [1, 2, 3, 7, 8, 1_000_000];
  const delays = (fraction: number) => failures.map((count) => retryDelayMs(count, DELAYS, { random: () => fraction }));
  expect(delays(0)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(delays(0.25)).toEqual([250, 500, 1_000, 15_000, 15_000, 15_000]);
  expect(delays(1)).toEqual([1_000, 2_000, 4_000, 60_000, 60_000, 60_000]);
});

test("by default spreads clients evenly from 0 to the ceiling", () => {
  const delays = Array.from({ length: 10_000 }, () => retryDelayMs(3, DELAYS));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...delays)).toBeLessThanOrEqual(4_000);
  const tenths = new Map<number, number>();
  for (const delayMs of delays) {
    const tenth = Math.min(9, Math.floor(delayMs / 400));
    tenths.set(tenth, (tenths.get(tenth) ?? 0) + 1);
  }
  // 1 000 each are expected, with a deviation of 30: ten deviations are no accident.
  expect(tenths.size).toBe(10);
  for (const clients of tenths.values()) expect(Math.abs(clients - 1_000)).toBeLessThan(300);
});

test("stays within the ceiling, follows the fraction, and is never under what was asked for", () => {
  const backoffs = fc.record({ firstMs: fc.integer({ min: 1, max: 100_000 }), more: fc.integer({ min: 0, max: 1e7 }) });
  const fractions = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const asks = fc.option(fc.oneof(fc.integer({ min: 0, max: 100_000_000 }), fc.double()), { nil: undefined });
  const failures = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.nat());
  fc.assert(
    fc.property(backoffs, fractions, failures, asks, ({ firstMs, more }, fraction, count, askedMs) => {
      const longestMs = firstMs + more;
      const ceilingMs = Math.min(longestMs, firstMs * 2 ** Math.min(Math.max(0, count - 1), 60));
      const random = (): number => fraction;
      const ownMs = retryDelayMs(count, { firstMs, longestMs }, { random });
      expect(ownMs).toBe(Math.round(fraction * ceilingMs));
      const askedForMs = Number.isFinite(askedMs) ? Math.min(Math.max(0, askedMs!), 86_400_000) : 0;
      const delayMs = retryDelayMs(count, { firstMs, longestMs }, { askedMs, random });
      expect(delayMs).toBeGreaterThanOrEqual(Math.max(ownMs, Math.round(askedForMs)));
      expect(delayMs).toBeLessThanOrEqual(Math.round(Math.max(ceilingMs, askedForMs * 1.1)));
    }),
  );
});

test("never waits less than the other side asked for, and ignores what is no number", () => {
  expect(retryDelayMs(1, DELAYS, { askedMs: 90_000, random: () => 0 })).toBe(90_000);
  expect(retryDelayMs(2, DELAYS, { askedMs: 10, random: () => 0 })).toBe(10);
  expect(retryDelayMs(2, DELAYS, { askedMs: 10, random: () => 0.5 })).toBe(1_000);
  expect(retryDelayMs(1, DELAYS, { askedMs: Number.NaN, random: () => 0.5 })).toBe(500);
});

test("spreads a wait that was asked for over another tenth of it, and cuts it to a day", () => {
  expect(retryDelayMs(1, DELAYS, { askedMs: 90_000, random: () => 0.5 })).toBe(94_500);
  expect(retryDelayMs(1, DELAYS, { askedMs: Number.MAX_SAFE_INTEGER, random: () => 0 })).toBe(86_400_000);
});

/** A clock whose sleeps end at once and are noted. */
const sleeper = () => {
  const sleptMs: number[] = [];
  return { sleptMs, clock: { sleep: async (ms: number) => void sleptMs.push(ms) } };
};

const never = new AbortController().signal;

test("retries until the work succeeds, with back-off and the error's own wait", async () => {
  const { sleptMs, clock } = sleeper();
  const failures = [new Error("one"), new SvcError("REMOTE_UNREACHABLE", "two", { retryAfterMs: 7_000 })];
  const told: unknown[] = [];
  const work = async (): Promise<string> => {
    const failure = failures.shift();
    if (failure) throw failure;
    return "done";
  };
  const onFailure = (error: unknown, ms: number): void => void told.push([(error as Error).message, ms]);
  expect(await retry(work, { ...DELAYS, clock, signal: never, onFailure, random: () => 1 })).toBe("done");
  expect(sleptMs).toEqual([1_000, 7_700]);
  expect(told).toEqual([
    ["one", 1_000],
    ["two", 7_700],
  ]);
});

test("gives up after the last try, and where onFailure throws", async () => {
  const { sleptMs, clock } = sleeper();
  let tries = 0;
  const work = async (): Promise<never> => {
    tries += 1;
    throw new Error(`try ${tries}`);
  };
  await expect(retry(work, { ...DELAYS, clock, signal: never, maxTries: 3 })).rejects.toThrow("try 3");
  expect(sleptMs.length).toBe(2);
  const onFailure = (error: unknown): never => {
    throw error;
  };
  await expect(retry(work, { ...DELAYS, clock, signal: never, onFailure })).rejects.toThrow("try 4");
});

test("ends with the signal's reason, and not with the error that the abort caused", async () => {
  const controller = new AbortController();
  const work = async (): Promise<never> => {
    controller.abort(new Error("called off"));
    throw new Error("the socket is closed");
  };
  await expect(retry(work, { ...DELAYS, ...sleeper(), signal: controller.signal })).rejects.toThrow("called off");
});
