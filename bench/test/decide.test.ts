// The guard's statistics: how often they are wrong, with noise from a seeded source.
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { describe, expect, it } from "vitest";
import { compare, LEAST_ROUNDS, verdictOf } from "../src/guard/decide.ts";

const ROUNDS = 12;
const RUNS = 2_000;

/** Logarithms of ratios around `ratio`, with a standard deviation of `noise`. */
function logRatios(random: () => number, ratio: number, noise: number, rounds = ROUNDS): number[] {
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Array.from({ length: rounds }, () => Math.log(ratio) + noise * normal());
}

/** How many of the runs find the figure worse. */
function failures(make: (random: () => number) => number[], seed: number): number {
  const random = seededRandom(seed);
  return Array.from({ length: RUNS }, () => verdictOf(compare(make(random)))).filter((verdict) => verdict === "worse")
    .length;
}

describe("compare", () => {
  it("has the exact bounds of the signed-rank test", () => {
    // Five rounds: 1/32 of all signs give the least sum of ranks, so the bounds are the least and the greatest value.
    const { low, high, ratio } = compare([0.01, 0.02, 0.03, 0.04, 0.1]);
    expect(Math.log(low)).toBeCloseTo(0.01);
    expect(Math.log(high)).toBeCloseTo(0.1);
    expect(Math.log(ratio)).toBeCloseTo(0.03);
    // Twelve rounds: tables give 17 as the critical value of 5 % (one-sided), so the bounds are the 18th averages.
    const values = Array.from({ length: 12 }, (_, at) => 2 ** at);
    const averages = values.flatMap((a, at) => values.slice(at).map((b) => (a + b) / 2)).toSorted((a, b) => a - b);
    expect(Math.log(compare(values.map((value) => value / 1000)).low) * 1000).toBeCloseTo(averages[17]!);
  });

  it("refuses fewer rounds than a bound needs", () => {
    expect(() => compare(Array.from({ length: LEAST_ROUNDS - 1 }, () => 0))).toThrow(RangeError);
  });

  it("is not moved by one disturbed round", () => {
    const calm = logRatios(seededRandom(1), 1, 0.01);
    const { ratio } = compare([...calm.slice(1), Math.log(3)]);
    expect(ratio).toBeGreaterThan(0.98);
    expect(ratio).toBeLessThan(1.02);
  });
});

describe("verdictOf", () => {
  it.each([0.01, 0.02, 0.04, 0.08])("takes equal builds for worse in less than 1 of 100 runs, noise %d", (noise) => {
    expect(failures((random) => logRatios(random, 1, noise), 11)).toBeLessThan(RUNS / 100);
  });

  it("takes a build at the limit for worse in 5 of 100 runs", () => {
    const share = failures((random) => logRatios(random, 1.05, 0.04), 12) / RUNS;
    expect(share).toBeGreaterThan(0.03);
    expect(share).toBeLessThan(0.065);
  });

  it.each([0.01, 0.02, 0.04])("finds a tenth more work in 95 of 100 runs, noise %d", (noise) => {
    expect(failures((random) => logRatios(random, 1.1, noise), 13)).toBeGreaterThan(0.95 * RUNS);
  });

  it("calls what it can't decide open", () => {
    const random = seededRandom(14);
    expect(verdictOf(compare(logRatios(random, 1.05, 0.05)))).toBe("open");
    expect(verdictOf(compare(logRatios(random, 1, 0.01)))).toBe("within");
  });
});
