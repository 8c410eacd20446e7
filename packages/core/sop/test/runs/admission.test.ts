// Runs that begin too often, too many at a time, or not at all; two that are let in because they come at the same instant.
import type { SvcError } from "@svc/contract";
import { vectorCases } from "@svc/testkit/vectors";
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type AdmissionFacts, skipReason } from "../../src/runs/begin.ts";
import { calling, type Fixture, fixture, type FixtureOptions, quiet, sop, STARTER, step, webhook } from "./fixture.ts";

let made: Fixture | undefined;
const open = (options: FixtureOptions): Fixture => (made = fixture(options));
afterEach(() => {
  made?.[Symbol.dispose]();
  made = undefined;
});

const FREE: AdmissionFacts = {
  maxConcurrent: 1,
  cooldownMs: 0,
  maxConcurrentTotal: 4,
  activeRuns: 0,
  activeRunsTotal: 0,
  lastEndMs: undefined,
  nowMs: 1_000_000,
};

describe("sop.gate", () => {
  interface Case {
    readonly max_concurrent?: number;
    readonly active_runs_of_sop?: number;
    readonly runs?: readonly { readonly status: string }[];
    readonly cooldown_secs?: number;
    readonly seconds_since_last_finish?: number;
  }
  test.each(vectorCases<Case, { start: boolean }>("sop.gate"))("$name", ({ input, expected }) => {
    const { cooldown_secs: cooldown = 0, seconds_since_last_finish: since } = input;
    const facts: AdmissionFacts = {
      ...FREE,
      maxConcurrent: input.max_concurrent ?? 1,
      cooldownMs: cooldown * 1000,
      activeRuns: input.active_runs_of_sop ?? input.runs?.length ?? 0,
      lastEndMs: since === undefined ? undefined : FREE.nowMs - since * 1000,
    };
    expect(skipReason(facts) === undefined).toBe(expected.start);
  });
});

test("a clock that was wrong never stops a procedure for longer than twice its cooldown", () => {
  fc.assert(
    fc.property(fc.nat(1e6), fc.integer({ min: -1e9, max: 1e9 }), (cooldownMs, aheadMs) => {
      const facts = { ...FREE, cooldownMs, lastEndMs: FREE.nowMs + aheadMs };
      const later = { ...facts, nowMs: facts.nowMs + 2 * cooldownMs };
      expect([skipReason(facts), skipReason(later)]).toContain(undefined);
    }),
  );
});

test("of events at the same instant as many are let in as may run, in every split of the commits", async () => {
  open({ sops: [sop("a", { maxConcurrent: 3, mode: "supervised" }), sop("b")], maxConcurrentTotal: 4 });
  const answers = await Promise.all(Array.from({ length: 150 }, () => made!.sops.dispatch(webhook("a"), STARTER)));
  expect(answers.flatMap(({ runs }) => runs)).toHaveLength(3);
  expect(new Set(answers.flatMap(({ skipped }) => skipped.map(({ reason }) => reason)))).toEqual(
    new Set(["max_concurrent"]),
  );
  await quiet();
  // Those that wait count.
  expect((await made!.sops.dispatch(webhook("a"), STARTER)).skipped).toEqual([{ sop: "a", reason: "max_concurrent" }]);
});

test("the limit of all procedures lets those in that matter most", async () => {
  const triggers = [{ type: "webhook", path: "/all", condition: undefined }] as const;
  const of = (name: string, priority: "low" | "normal" | "critical") => sop(name, { priority, triggers });
  open({
    sops: [of("a", "low"), of("b", "normal"), of("c", "critical")],
    maxConcurrentTotal: 2,
    turn: () => new Promise(() => {}),
  });
  const { runs, skipped } = await made!.sops.dispatch(webhook("all"), STARTER);
  expect(runs.map((run) => run.sop)).toEqual(["c", "b"]);
  expect(skipped).toEqual([{ sop: "a", reason: "max_concurrent_total" }]);
});

test("the cooldown counts from the end of the last run, over a restart", async () => {
  const sops = [sop("a", { cooldownMs: 60_000, mode: "supervised" })];
  open({ sops });
  await made!.start("a");
  await quiet();
  await made!.clock.advance(120_000);
  await made!.answerAll(false);
  await quiet();
  await made!.clock.advance(59_000);
  expect((await made!.sops.dispatch(webhook("a"), STARTER)).skipped).toEqual([{ sop: "a", reason: "cooldown" }]);
  await made!.clock.advance(1_000);
  expect((await made!.sops.dispatch(webhook("a"), STARTER)).runs).toHaveLength(1);
});

describe("by name", () => {
  test("says why it does not start", async () => {
    const triggers = [{ type: "webhook", path: "/x", condition: undefined }] as const;
    const condition = "$.go == true";
    open({
      sops: [
        sop("a", { mode: "supervised" }),
        sop("b", { triggers }),
        sop("c", { triggers: [{ type: "manual", condition }] }),
      ],
    });
    const { sops } = made!;
    await sops.run("a", null, STARTER);
    const refusal = (name: string, payload: string | null = null) =>
      sops.run(name, payload, STARTER).catch(({ code, hint }: SvcError) => ({ code, hint }));
    expect(await refusal("a")).toEqual({ code: "SOP_BUSY", hint: expect.stringContaining("svc approvals list") });
    expect(await refusal("b")).toEqual({ code: "SOP_NOT_MANUAL", hint: expect.stringContaining('type = "manual"') });
    expect(await refusal("none")).toEqual({ code: "SOP_UNKNOWN", hint: expect.stringContaining("svc sop list") });
    expect(await refusal("c", '{"go":false}')).toEqual({ code: "SOP_BUSY", hint: expect.stringContaining("sop show") });
    expect(await sops.run("c", '{"go":true}', STARTER)).toMatchObject({ sop: "c", source: "manual", topic: "c" });
  });

  test("a call that is made again after a kill gives the run it began before", async () => {
    open({ sops: [sop("a")] });
    const starter = { by: "agent a", agent: "a", key: "t-1:c-1" };
    const first = await made!.sops.run("a", null, starter);
    await quiet();
    expect((await made!.sops.run("a", null, starter)).id).toBe(first.id);
    made!.define();
    expect((await made!.sops.run("a", null, starter)).id).toBe(first.id);
    expect(made!.sops.runs({}, 10).runs).toHaveLength(1);
  });
});

test("a cron trigger starts the procedure that it belongs to, and is noted with the run", async () => {
  const triggers = [{ type: "cron", expression: "0 9 * * *", timezone: undefined, condition: undefined }] as const;
  open({ sops: [sop("a", { triggers }), sop("b", { triggers })] });
  await made!.due("b", "0 9 * * *");
  expect(made!.sops.runs({}, 10).runs).toMatchObject([{ sop: "b", source: "cron", startedBy: "cron 0 9 * * *" }]);
  expect(made!.noted).toEqual(["b"]);
});

test("an event that starts several is told once, and only when it is on disk", async () => {
  open({ sops: [sop("a"), sop("b")], idle: true });
  const { store, sops, events } = made!;
  const failed = store.write(() => {
    sops.dispatchIn(webhook("a"), STARTER);
    throw new Error("no");
  });
  await expect(failed).rejects.toMatchObject({ code: "STORE_FAILED" });
  expect([sops.runs({}, 10).runs, events]).toEqual([[], []]);
});

test("a deterministic run is not begun with a part of its payload, nor when its arguments are unsafe", async () => {
  const untrusted = step(1, { call: { tool: "act", args: { x: "$.a" }, trustedInput: false } });
  open({
    sops: [
      sop("whole", { mode: "deterministic", steps: [calling(1, { x: "$.a" })] }),
      sop("unsafe", { mode: "deterministic", steps: [untrusted] }),
      sop("command", {
        mode: "deterministic",
        steps: [step(1, { call: { tool: "shell", args: { cwd: "$" }, trustedInput: true } })],
      }),
    ],
  });
  const reasonOf = async (name: string, payload: string) =>
    (await made!.sops.dispatch(webhook(name, payload), STARTER)).skipped[0]?.reason;
  expect(await reasonOf("whole", JSON.stringify({ a: "x".repeat(70_000) }))).toBe("payload_too_large");
  expect(await reasonOf("unsafe", "{}")).toBe("unsafe_arguments");
  expect(await reasonOf("command", "{}")).toBe("unsafe_arguments");
  expect(made!.log.text()).toContain("Step 1: act acts on what comes from outside");
  await expect(made!.sops.run("unsafe", "{}", STARTER)).rejects.toMatchObject({ code: "SOP_INVALID" });
  await expect(made!.sops.run("whole", `"${"x".repeat(70_000)}"`, STARTER)).rejects.toMatchObject({
    code: "TOO_LARGE",
  });
});
