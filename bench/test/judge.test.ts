// The guard's decision with noise that was really measured: rounds of a build against itself, drawn again and again.
import { readFileSync } from "node:fs";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { describe, expect, it } from "vitest";
import { type Baseline, FIGURES } from "../src/guard/figures.ts";
import { judge, OWN, type Round, worseOf } from "../src/guard/judge.ts";
import type { Sample } from "../src/guard/round.ts";

/** Written by `npm run bench -- --against self`, on a machine with other work. */
const SELF = (
  JSON.parse(readFileSync(new URL("self-rounds.json", import.meta.url), "utf8")) as {
    rounds: { own: Sample; self: Sample }[];
  }
).rounds;
const BASELINE: Baseline = new Map(FIGURES.map(({ id }) => [id, { reference: "self", best: "self" }]));
const RUNS = 400;

/** Twelve rounds; which of the two was the new build is drawn too. `slower` multiplies figures of the new one. */
function drawn(random: () => number, slower: Readonly<Record<string, number>>): Round[] {
  return Array.from({ length: 12 }, () => {
    const { own, self } = SELF[Math.floor(random() * SELF.length)]!;
    const [mine, other] = random() < 0.5 ? [own, self] : [self, own];
    const changed = Object.entries(mine).map(([id, value]) => [id, value * (slower[id] ?? 1)]);
    return new Map([
      [OWN, Object.fromEntries(changed) as Sample],
      ["self", other],
    ]);
  });
}

function failedRuns(slower: Readonly<Record<string, number>>): number {
  const random = seededRandom(18);
  const runs = Array.from({ length: RUNS }, () => worseOf(judge(FIGURES, BASELINE, drawn(random, slower))));
  return runs.filter((worse) => worse.length > 0).length;
}

describe("judge", () => {
  it("passes a build against itself in more than 19 of 20 runs", () => {
    expect(failedRuns({})).toBeLessThan(RUNS / 20);
  });

  it("fails a build with 10 % more work in the turn in more than 19 of 20 runs", () => {
    expect(failedRuns({ "turn-1": 1.1, "turn-10": 1.1, "turn-50": 1.1 })).toBeGreaterThan((RUNS * 19) / 20);
  });

  it("shows figures that it doesn't judge", () => {
    const slower = { "health-50": 2, "refused-50": 2 };
    expect(failedRuns(slower)).toBeLessThan(RUNS / 20);
    const lines = judge(FIGURES, BASELINE, drawn(seededRandom(3), slower));
    expect(lines.find(({ figure }) => figure.id === "health-50")!.verdict).toBe("worse");
  });

  it("shows the distance to the best ever where it was measured", () => {
    const baseline: Baseline = new Map(FIGURES.map(({ id }) => [id, { reference: "self", best: "best" }]));
    const rounds = drawn(seededRandom(4), {});
    expect(judge(FIGURES, baseline, rounds).map(({ overBest }) => overBest)).toEqual(FIGURES.map(() => undefined));
    const halves = rounds.map((round) => {
      const best = Object.fromEntries(Object.entries(round.get(OWN)!).map(([id, value]) => [id, value / 2])) as Sample;
      return new Map([...round, ["best", best]]);
    });
    for (const { overBest } of judge(FIGURES, baseline, halves)) expect(overBest).toBeCloseTo(2);
  });
});
