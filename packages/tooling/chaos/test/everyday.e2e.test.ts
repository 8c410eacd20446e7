// Whoever writes to an agent day after day stops when it forgets to answer, says things twice, or leaves half an answer standing.
import { expect, test } from "vitest";
import { SCENARIOS } from "../src/index.ts";

test("120 messages on the channels that poll or hold a connection, and 5 kills: each is answered once, whole, in order", async () => {
  const report = await SCENARIOS["everyday"]!({ seed: 1, deliveries: 0, messages: 120, kills: 10 });
  expect(report.problems.join("\n")).toBe("");
  expect(report.facts).toMatchObject({ "messages written": 120, kills: 5, integrity_check: "ok" });
});
