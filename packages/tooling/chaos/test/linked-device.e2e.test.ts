// A service that is killed, or cut off, must not leave a chat that can't be read, or a message of a linked account without its one answer.
import { cases } from "@svc/cases";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { SCENARIOS } from "../src/index.ts";

const MESSAGES = cases(200);
const KILLS = MESSAGES === 200 ? 10 : 2;

test("messages to a linked device, kills and disconnects: each is answered once, no chat breaks, nor a re-link", async (context) => {
  const report = await SCENARIOS["linked-device"]!({ seed: 1, deliveries: 0, messages: MESSAGES, kills: KILLS });
  if (report.missing) requireReal(context, report.missing);
  expect(report.problems.join("\n")).toBe("");
  const all = MESSAGES + 1;
  expect(report.facts).toMatchObject({
    "messages written": all,
    "answers shown": all,
    kills: KILLS,
    disconnects: KILLS / 2,
  });
  expect(report.facts["in a group"]).toBeGreaterThan(0);
  expect(report.facts["logins"]).toBeGreaterThanOrEqual(KILLS);
});
