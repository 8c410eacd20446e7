// A service that is killed must answer each private message once, whatever its relays lose, repeat or make up.
import { cases } from "@svc/cases";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { SCENARIOS } from "../src/index.ts";

const MESSAGES = cases(500);
const KILLS = MESSAGES === 500 ? 10 : 3;

test("private messages over three bad relays, and kills: each is answered once, forged ones never", async (context) => {
  const report = await SCENARIOS["relays"]!({ seed: 1, deliveries: 0, messages: MESSAGES, kills: KILLS });
  if (report.missing) requireReal(context, report.missing);
  expect(report.problems.join("\n")).toBe("");
  expect(report.facts).toMatchObject({ "messages written": MESSAGES, "answers shown": MESSAGES, kills: KILLS });
  for (const what of ["events not told", "frames swallowed", "events told twice", "forged messages"]) {
    expect(report.facts[what]).toBeGreaterThan(0);
  }
});
