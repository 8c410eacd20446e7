// Disks fill up, backup programs lock files, clocks are set and platforms are down: none of it may cost a message.
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { SCENARIOS } from "../src/index.ts";

const TITLES: readonly (readonly [name: string, title: string])[] = [
  ["outage", "a platform that is down for longer than the first retries gets everything, and holds up nobody else"],
  ["disk-full", "on a full disk deliveries are refused with 503, over a kill too; with room again all are answered"],
  ["locked", "while another process holds the database's lock deliveries are refused, and nobody stands still"],
  ["clock", "a clock that jumps ten minutes ahead and back costs no message and no time"],
];

test.for(TITLES)("%s: %s", async ([name], context) => {
  const report = await SCENARIOS[name]!({ seed: 1, deliveries: 0, kills: 0 });
  if (report.missing) requireReal(context, report.missing);
  expect(report.problems.join("\n")).toBe("");
});
