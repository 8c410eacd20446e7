// Clients that lost one server together must not all return at once, nor ever more seldom than promised.
import { expect, test } from "vitest";
import { retryDelayMs } from "../src/index.ts";

const DELAYS = { firstMs: 1_000, longestMs: 60_000 };

test("doubles with each failure up to the longest, half of it jitter", () => {
  const least = [1, 2, 3, 7, 8, 1_000_000].map((failures) => retryDelayMs(failures, DELAYS, () => 0));
  const most = [1, 2, 3, 7, 8, 1_000_000].map((failures) => retryDelayMs(failures, DELAYS, () => 1));
  expect(least).toEqual([500, 1_000, 2_000, 30_000, 30_000, 30_000]);
  expect(most).toEqual([1_000, 2_000, 4_000, 60_000, 60_000, 60_000]);
});

test("differs between clients by default", () => {
  const delays = new Set(Array.from({ length: 20 }, () => retryDelayMs(3, DELAYS)));
  expect(delays.size).toBeGreaterThan(1);
  for (const delay of delays) expect(delay >= 2_000 && delay <= 4_000).toBe(true);
});
