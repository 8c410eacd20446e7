// A procedure that a kill makes run twice, or a yes that a kill makes nobody's, does more harm than one that never ran.
import { expect, test } from "vitest";
import { SCENARIOS } from "../src/index.ts";

test("runs and approvals over 4 kills: each ends once, is asked for once, acts at most once; no answer is lost", async () => {
  const report = await SCENARIOS["procedures"]!({ seed: 1, deliveries: 0, kills: 4 });
  expect(report.problems.join("\n")).toBe("");
  expect(report.facts).toMatchObject({ kills: 4, runs: 60, integrity_check: "ok" });
});
