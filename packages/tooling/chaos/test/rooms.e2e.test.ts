// A service that is killed, or whose platform is, must not leave a message in an encrypted room or a workplace chat without its answer.
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { SCENARIOS } from "../src/index.ts";

test("60 messages in rooms and workplace chats, 5 kills and 2 outages: each is answered once, none undecryptable", async (context) => {
  const report = await SCENARIOS["rooms"]!({ seed: 1, deliveries: 0, messages: 60, kills: 5 });
  if (report.missing) requireReal(context, report.missing);
  expect(report.problems.join("\n")).toBe("");
  expect(report.facts).toMatchObject({ "messages written": 60, "answers shown": 60, kills: 5, outages: 2 });
  expect(report.facts["keys that came late"]).toBeGreaterThan(0);
});
