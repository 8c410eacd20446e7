// A service that loses what it accepted when it is killed, or says things twice, is not trusted with anything again.
import { expect, test } from "vitest";
import { SCENARIOS } from "../src/index.ts";

// A seed with kills of every kind: while deliveries come, turns run and answers go out, and in the middle of a start.
test("300 deliveries over all providers and 3 kills: each accepted one is answered once, in order", async () => {
  const report = await SCENARIOS["kills"]!({ seed: 1, deliveries: 300, kills: 3 });
  expect(report.problems.join("\n")).toBe("");
  expect(report.facts).toMatchObject({ deliveries: 300, kills: 3, integrity_check: "ok" });
});
