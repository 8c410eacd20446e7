// Clients that lost one server together must not all return at once, nor ever more seldom than promised.
import { SvcError } from "@svc/contract";
import { expect, test } from "vitest";
import { retry, retryDelayMs } from "../../src/async/index.ts";

const DELAYS = { firstMs: 1_000, longestMs: 60_000 };

test("doubles with each failure up to the longest, half of it jitter", () => {
  const least = [1, 2, 3, 7, 8, 1_000_000].map((failures) => retryDelayMs(failures, DELAYS, { random: () => 0 }));
  const most = [1, 2, 3, 7, 8, 1_000_000].map((failures) => retryDelayMs(failures, DELAYS, { random: () => 1 }));
  expect(least).toEqual([500, 1_000, 2_000, 30_000, 30_000, 30_000]);
  expect(most).toEqual([1_000, 2_000, 4_000, 60_000, 60_000, 60_000]);
});

test("differs between clients by default", () => {
  const delays = new Set(Array.from({ length: 20 }, () => retryDelayMs(3, DELAYS)));
  expect(delays.size).toBeGreaterThan(1);
  for (const delay of delays) expect(delay >= 2_000 && delay <= 4_000).toBe(true);
});

test("never waits less than the other side asked for, and ignores what is no number", () => {
  expect(retryDelayMs(1, DELAYS, { askedMs: 90_000, random: () => 0 })).toBe(90_000);
  expect(retryDelayMs(2, DELAYS, { askedMs: 10, random: () => 0 })).toBe(1_000);
  expect(retryDelayMs(1, DELAYS, { askedMs: Number.NaN, random: () => 0 })).toBe(500);
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
