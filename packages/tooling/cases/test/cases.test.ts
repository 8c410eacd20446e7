import { readConfigureGlobal } from "fast-check";
import { expect, test } from "vitest";
import { cases } from "../src/cases.ts";

test("all of them where they are asked for", () => {
  expect(cases(2_000, { SVC_CASES: "all" })).toBe(2_000);
});

test.each([
  [2_000, 200],
  [101, 11],
  [50, 10],
  [8, 8],
])("of %i, %i otherwise", (count, tried) => {
  expect(cases(count, {})).toBe(tried);
});

test("a property that names no number has the usual ones, and the seed of the run", () => {
  expect(readConfigureGlobal()).toMatchObject({ numRuns: cases(100), seed: Number(process.env["SVC_SEED"]) });
});
