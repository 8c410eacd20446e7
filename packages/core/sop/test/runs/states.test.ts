// A run that goes to a state it must not go to, or tells people something else than what the disk holds.
import { isPostponed, postponed } from "@svc/contract";
import { afterEach, expect, test } from "vitest";
import { calling, type Fixture, fixture, type FixtureOptions, quiet, sop, step } from "./fixture.ts";

let made: Fixture;
const open = (options: FixtureOptions): Fixture => (made = fixture(options));
afterEach(() => made[Symbol.dispose]());

const kinds = (): string[] =>
  made.store.audit
    .list(100)
    .map(({ kind }) => kind)
    .toReversed();
const told = (): string[] =>
  made.events.map((event) => ("status" in event ? `${event.type} ${event.status}` : event.type));

test("auto runs all steps, each in a turn of its own, and says so", async () => {
  open({ sops: [sop("a")] });
  const id = await made.start("a", '{"x":1}');
  await quiet();
  expect(made.run(id)).toMatchObject({ status: "completed", step: 2, startedBy: "a test", payload: '{"x":1}' });
  expect(made.turns.map(({ turnId }) => turnId)).toEqual([`sop-${id}-1`, `sop-${id}-2`]);
  expect(made.sops.readRun(id).steps.map(({ status, output }) => [status, output])).toEqual([
    ["completed", "did 1"],
    ["completed", "did 2"],
  ]);
  expect(kinds()).toEqual(["sop-run-start", "sop-step-end", "sop-step-end", "sop-run-end"]);
  expect(told()).toEqual([
    "sop-run-start",
    "sop-run-step running",
    "sop-run-step completed",
    "sop-run-step running",
    "sop-run-step completed",
    "sop-run-end completed",
  ]);
});

test("supervised waits before its first step, and a yes grants that step's tools alone", async () => {
  open({ sops: [sop("a", { mode: "supervised", steps: [step(1, { tools: ["act"] }), step(2, { tools: ["act"] })] })] });
  const id = await made.start("a");
  await quiet();
  expect(made.run(id)).toMatchObject({ status: "waiting_approval", step: 1 });
  expect(made.turns).toEqual([]);
  const [asked] = made.approvals.list({ runId: id }, 10).approvals;
  expect(asked).toMatchObject({ stepId: "step-1", origin: "sop", status: "waiting", askedBy: "procedure a" });
  expect(asked!.message).toContain("act");
  await made.answerAll();
  await quiet();
  expect(made.run(id).status).toBe("completed");
  expect(made.turns.map(({ granted, tools }) => [granted, tools])).toEqual([
    [true, ["act"]],
    [false, ["act"]],
  ]);
});

test("step_by_step asks before every step, requires_confirmation in every mode, a checkpoint runs nothing", async () => {
  const steps = [step(1), step(2, { kind: "checkpoint" }), step(3, { requiresConfirmation: true })];
  open({ sops: [sop("each", { mode: "step_by_step" }), sop("own", { mode: "auto", steps })] });
  const each = await made.start("each");
  await quiet();
  expect(await made.answerAll()).toBe(1);
  await quiet();
  expect(made.run(each)).toMatchObject({ status: "waiting_approval", step: 2 });
  expect(await made.answerAll()).toBe(1);
  await quiet();
  expect(made.run(each).status).toBe("completed");
  const own = await made.start("own");
  await quiet();
  expect(made.run(own)).toMatchObject({ status: "waiting_approval", step: 2 });
  await made.answerAll();
  await quiet();
  expect(made.run(own)).toMatchObject({ status: "waiting_approval", step: 3 });
  await made.answerAll();
  await quiet();
  expect(made.run(own).status).toBe("completed");
  expect(made.turns.map(({ turnId }) => turnId.slice(-1))).toEqual(["1", "2", "1", "3"]);
  // A checkpoint lets through what came before it.
  expect(made.turns.at(-1)!.text).toContain("did 1");
});

test("a no cancels with its feedback", async () => {
  open({ sops: [sop("a", { mode: "supervised" })] });
  const id = await made.start("a");
  await quiet();
  await made.answerAll(false, "not on Fridays");
  await quiet();
  expect(made.run(id)).toMatchObject({
    status: "cancelled",
    error: undefined,
    reason: "Rejected by a person: not on Fridays",
  });
  expect(made.turns).toEqual([]);
  expect(kinds()).toEqual(["sop-run-start", "approval-request", "approval-answer", "sop-step-end", "sop-run-end"]);
});

test("a gate that nobody answers ends the run, and never lets it go on", async () => {
  open({ sops: [sop("a", { mode: "supervised" })] });
  const id = await made.start("a");
  await quiet();
  await made.clock.advance(86_400_000 + 60_000);
  await quiet();
  expect(made.run(id)).toMatchObject({ status: "cancelled", error: "APPROVAL_EXPIRED" });
  expect(made.turns).toEqual([]);
  expect(made.log.text()).toContain("no answer in time; run cancelled");
});

test("a change of the procedure, or its removal, is for later runs", async () => {
  open({ sops: [sop("a", { mode: "supervised" })] });
  const id = await made.start("a");
  await quiet();
  made.define(sop("a", { steps: [step(1, { title: "Another" })] }));
  await made.answerAll();
  await quiet();
  expect(made.turns.map(({ text }) => text.split("\n")[0])).toEqual(["Step 1 of 2: Step 1", "Step 2 of 2: Step 2"]);
  expect(made.run(id).status).toBe("completed");
});

test("stop leaves a run that the next process goes on with, and begins nothing more", async () => {
  open({
    sops: [sop("a"), sop("b", { mode: "deterministic", steps: [calling(1)] })],
    turn: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    call: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
  });
  const ids = [await made.start("a"), await made.start("b")];
  await quiet();
  const stopped = made.sops.stop(5_000);
  await made.clock.advance(5_000);
  await stopped;
  const later = await made.start("b").catch(() => "refused");
  await quiet();
  expect(ids.map((id) => made.run(id).status)).toEqual(["running", "running"]);
  expect(later).toBe("refused");
  expect(made.abandoned).toEqual([]);
  expect(kinds()).not.toContain("sop-run-end");
});

test("a turn that a shutdown calls off because it waits for a person is no failure of its run", async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  open({ sops: [sop("a")], turn: () => promise });
  const id = await made.start("a");
  await quiet();
  // The agent hears of the shutdown in the same instant, and is quicker.
  const stopped = made.sops.stop(5_000);
  reject(postponed());
  await stopped;
  expect([made.run(id).status, made.run(id).step]).toEqual(["running", 1]);
  expect([made.abandoned, kinds()]).toEqual([[], expect.not.arrayContaining(["sop-run-end"]) as string[]]);
});

test("what a shutdown calls off in the end goes on: its questions are not taken back", async () => {
  const reasons: unknown[] = [];
  const turn = ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise<string>((_, reject) =>
      signal.addEventListener("abort", () => (reasons.push(signal.reason), reject(signal.reason as Error))),
    );
  open({ sops: [sop("a")], turn });
  await made.start("a");
  await quiet();
  const stopped = made.sops.stop(5_000);
  await made.clock.advance(5_000);
  await stopped;
  expect(reasons.map(isPostponed)).toEqual([true]);
});

test.each([
  ["sop", "step-2"],
  ["external", "step-1-interrupted"],
] as const)("the answer to another question moves nothing: %s %s", async (origin, stepId) => {
  open({ sops: [sop("a", { mode: "supervised" })] });
  const id = await made.start("a");
  await quiet();
  const other = {
    runId: id,
    stepId,
    origin,
    title: "t",
    message: "m",
    askedBy: "x",
    conversations: [],
  } as const;
  await made.approvals.request(other);
  await made.approvals.resolve(other, { approved: true, by: "x", via: "cli" });
  await quiet();
  expect(made.run(id)).toMatchObject({ status: "waiting_approval", step: 1 });
});

test("an outside workflow can't slip its own yes under a step's key", async () => {
  open({ sops: [sop("a", { steps: [step(1), step(2)] })], turn: async ({ turnId }) => turnId });
  const external = {
    runId: "",
    stepId: "step-1",
    origin: "external",
    title: "t",
    message: "m",
    askedBy: "x",
    conversations: [],
  } as const;
  const { sops } = made;
  const { runs } = await sops.dispatch({ source: "webhook", topic: "/a", payload: null }, { by: "x" });
  const runId = runs[0]!.runId;
  await made.approvals.request({ ...external, runId });
  await made.approvals.resolve({ runId, stepId: "step-1" }, { approved: true, by: "x", via: "cli" });
  await quiet();
  expect(made.turns.map(({ granted }) => granted)).toEqual([false, false]);
});
