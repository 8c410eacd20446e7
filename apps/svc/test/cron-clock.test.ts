// A clock that is set must neither start a procedure twice for one time nor make it skip a day.
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { UNGUARDED } from "./daemon.ts";
import { type ProceduresFixture, startProcedures } from "./procedures-fixture.ts";
import { missingWallClock, wallClock } from "./procedures-clock.ts";

const daily = (expression: string, name: string, more = ""): string => `[sop]
description = "Of the test."
execution_mode = "deterministic"
max_concurrent = 100

[[triggers]]
type = "cron"
expression = "${expression}"
${more}

[[steps]]
title = "Note it"
tool = "file_write"
args = { path = "${name}.txt", content = "*", mode = "append" }
`;

const OTHER = (version: number): string => `[sop]\nversion = "${version}"\n\n[[triggers]]\ntype = "manual"\n`;

/** Has the schedule look at the clock now, and all that it starts written down: without it that takes up to half a minute. */
function looker(fixture: ProceduresFixture): () => Promise<void> {
  let version = 0;
  return async () => {
    version += 1;
    await fixture.write({ other: { toml: OTHER(version) } });
    expect((await fixture.api("/api/channel-events", { type: "of the test" })).status).toBe(200);
  };
}

const DAILY = "0 4 * * *";

test("jumps of the clock start a procedure neither twice nor leave a day out", async (context) => {
  const missing = missingWallClock();
  if (missing) requireReal(context, missing);
  await using fixture = await startProcedures({ config: UNGUARDED });
  const clock = wallClock(fixture.home);
  const look = looker(fixture);
  const fired = (): Promise<string> => marks(fixture, "daily");
  clock.set("2027-03-10T03:59:00Z");
  await fixture.killed();
  await fixture.begin(clock.env);
  await fixture.write({ daily: { toml: daily(DAILY, "daily"), md: "" } });
  expect(await fired()).toBe("");

  const moments: readonly (readonly [at: string, marks: string, what: string, way?: "down" | "killed"])[] = [
    ["2027-03-10T04:00:01Z", "*", "it is due"],
    ["2027-03-10T03:00:00Z", "*", "back one hour"],
    ["2027-03-10T03:59:59Z", "*", "on to just before it was due"],
    ["2027-03-10T04:00:30Z", "*", "past it for the second time"],
    ["2027-03-11T04:00:30Z", "**", "forward one day"],
    ["2027-03-12T05:00:00Z", "***", "down over the time", "down"],
    ["2027-03-12T03:30:00Z", "***", "back while it was killed", "killed"],
    ["2027-03-12T04:10:00Z", "***", "past it again"],
    ["2027-03-13T04:00:01Z", "****", "the next day, over a kill", "killed"],
    ["2027-02-13T03:59:00Z", "****", "back a month"],
    ["2027-02-13T04:00:01Z", "*****", "it is due there: the clock had been wrong"],
    ["2027-02-14T12:00:00Z", "******", "forward over one time"],
    ["2027-03-13T04:30:00Z", "******", "forward to the truth: fired there before the clock was wrong"],
    ["2027-03-14T04:00:01Z", "*******", "the day after"],
    ["2027-03-20T03:00:00Z", "********", "forward six days: the latest only"],
    ["2027-03-20T04:00:01Z", "*********", "its own day"],
  ];
  for (const [at, expected, what, way] of moments) {
    if (way === "killed") await fixture.killed();
    if (way === "down") await fixture.chat.daemon.stop();
    clock.set(at);
    if (way) await fixture.begin();
    await look();
    expect(`${what}: ${await fired()}`).toBe(`${what}: ${expected}`);
  }
  expect(await fixture.chat.json("audit", "verify")).toMatchObject({ ok: true });
});

/** What its runs have written, once none of them runs any more. */
async function marks(fixture: ProceduresFixture, name: string): Promise<string> {
  const { body } = await fixture.api<{ runs: { status: string }[] }>(`/api/sop-runs?sop=${name}&limit=200`);
  await eventually(
    () => fixture.file(`${name}.txt`),
    (text) => text.length >= body.runs.length,
  );
  return fixture.file(`${name}.txt`);
}
