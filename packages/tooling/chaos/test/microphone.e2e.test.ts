// A service that is killed while somebody speaks to it must not do twice what was said once, nor forget what it has heard.
import { cases } from "@svc/cases";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { SCENARIOS } from "../src/index.ts";

const COMMANDS = cases(100);
const KILLS = COMMANDS === 100 ? 40 : 4;

test("commands at a microphone, and kills while they are captured, transcribed, dispatched: each is done once", async (context) => {
  const report = await SCENARIOS["microphone"]!({ seed: 1, deliveries: 0, messages: COMMANDS, kills: KILLS });
  if (report.missing) requireReal(context, report.missing);
  expect(report.problems.join("\n")).toBe("");
  expect(report.facts).toMatchObject({ commands: COMMANDS, kills: KILLS });
  for (const what of ["said again", "said to another person"]) expect(report.facts[what]).toBeGreaterThan(0);
});
