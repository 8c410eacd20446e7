// A test run that passes for a real one, goes round a gate, holds up real work; a disabled procedure that starts.
import { afterEach, expect, test } from "vitest";
import { type Fixture, fixture, type FixtureOptions, quiet, sop, STARTER, step, webhook } from "./fixture.ts";

let made: Fixture;
const open = (options: FixtureOptions): Fixture => (made = fixture(options));
afterEach(() => made[Symbol.dispose]());

const off = sop("a", { isDisabled: true, mode: "supervised", cooldownMs: 60_000 });

test("what is disabled starts by nothing but a test, and says so", async () => {
  open({
    sops: [
      {
        ...off,
        triggers: [
          ...off.triggers,
          { type: "cron", expression: "* * * * *", timezone: undefined, condition: undefined },
        ],
      },
    ],
  });
  expect(await made.sops.dispatch(webhook("a"), STARTER)).toEqual({
    runs: [],
    skipped: [{ sop: "a", reason: "disabled" }],
  });
  await expect(made.sops.run("a", null, STARTER)).rejects.toMatchObject({ code: "SOP_DISABLED" });
  await made.due("a", "* * * * *");
  expect((await made.sops.calendar(7)).times).toEqual([]);
  expect(made.store.sopRuns.list({}, 10)).toEqual([]);
  expect(made.sops.hasPath("/a")).toBe(true);
});

test("a test run is marked everywhere, has the gates of any other run, and starts no cooldown", async () => {
  open({ sops: [off] });
  const run = await made.sops.test("a", { payload: null }, STARTER);
  await quiet();
  expect(made.run(run.id)).toMatchObject({ isTest: true, status: "waiting_approval", source: "manual" });
  expect(made.turns).toEqual([]);
  const [asked] = made.approvals.list({ runId: run.id }, 10).approvals;
  expect(asked).toMatchObject({ title: "Test: a: Step 1" });
  expect(asked!.message).toContain("This is a test run.");
  await made.answerAll();
  await quiet();
  expect(made.run(run.id).status).toBe("completed");
  const runEvents = made.events.filter(({ type }) => type.startsWith("sop-run-"));
  expect(runEvents).toHaveLength(7);
  expect(runEvents.every((event) => "isTest" in event)).toBe(true);
  const start = made.store.audit.list(10).find(({ kind }) => kind === "sop-run-start");
  expect(start!.data).toMatchObject({ test: true });
  made.define({ ...sop("a"), cooldownMs: 60_000 });
  const real = await made.sops.dispatch(webhook("a"), STARTER);
  await quiet();
  expect(real.skipped).toEqual([]);
  expect(
    made.events
      .filter(({ type }) => type.startsWith("sop-run-"))
      .slice(7)
      .some((event) => "isTest" in event),
  ).toBe(false);
  expect(made.sops.runs({ test: true }, 10).runs.map(({ id }) => id)).toEqual([run.id]);
  expect(made.sops.runs({ test: false, source: "webhook" }, 10).runs.map(({ id }) => id)).toEqual([
    real.runs[0]!.runId,
  ]);
  // The real run's cooldown holds up no test, and a real one.
  expect((await made.sops.dispatch(webhook("a"), STARTER)).skipped).toEqual([{ sop: "a", reason: "cooldown" }]);
  expect((await made.sops.test("a", { payload: null }, STARTER)).isTest).toBe(true);
});

test("a sample event is judged by the trigger that it is of", async () => {
  const triggers = [
    { type: "manual", condition: undefined },
    { type: "webhook", path: "/x", condition: "$.n >= 3" },
  ] as const;
  open({ sops: [sop("a", { triggers, steps: [step(1)] })] });
  const sample = (trigger: number, payload: string | null) => made.sops.test("a", { trigger, payload }, STARTER);
  await expect(sample(1, '{"n":2}')).rejects.toMatchObject({ code: "SOP_NOT_TRIGGERED" });
  await expect(sample(2, null)).rejects.toMatchObject({ code: "SOP_NOT_TRIGGERED" });
  expect(await sample(1, '{"n":3}')).toMatchObject({ source: "webhook", topic: "/x", payload: '{"n":3}' });
  await expect(sample(1, '{"n":3}')).rejects.toMatchObject({ code: "SOP_BUSY" });
});
