// A run that goes to a state it must not go to, or tells people something else than what the disk holds.
import { SvcError } from "@svc/contract";
import { afterEach, describe, expect, test } from "vitest";
import { calling, type House, house, type HouseOptions, quiet, sop, step } from "./house.ts";

let made: House;
const open = (options: HouseOptions): House => (made = house(options));
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
  expect(made.log.text()).toContain("a run of a procedure is cancelled");
});

describe("cancel", () => {
  test("ends a waiting run and its question", async () => {
    open({ sops: [sop("a", { mode: "supervised" })] });
    const id = await made.start("a");
    await quiet();
    expect(await made.sops.cancel(id, "somebody")).toMatchObject({
      status: "cancelled",
      reason: "Cancelled by somebody.",
    });
    expect(made.approvals.list({ runId: id }, 10).approvals[0]!.status).toBe("cancelled");
    expect(made.events).toContainEqual(
      expect.objectContaining({ type: "human_approval_resolved", outcome: "cancelled" }),
    );
    await expect(made.answerAll()).resolves.toBe(0);
    await expect(made.sops.cancel(id, "somebody")).rejects.toMatchObject({ code: "SOP_RUN_ENDED" });
    await expect(made.sops.cancel("r-none", "somebody")).rejects.toMatchObject({ code: "SOP_RUN_UNKNOWN" });
  });

  test("stops the turn that runs, and tidies away what it left", async () => {
    open({
      sops: [sop("a")],
      turn: async ({ signal, turnId }) => {
        await made.store.write(() => made.store.steps.add(turnId, { message: {}, inputTokens: 1, outputTokens: 1 }));
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      },
    });
    const id = await made.start("a");
    await quiet();
    await made.sops.cancel(id, "somebody");
    await quiet();
    expect(made.run(id).status).toBe("cancelled");
    expect(made.abandoned).toEqual([`sop-${id}-1`]);
    expect(kinds().filter((kind) => kind === "sop-run-end")).toHaveLength(1);
  });

  test.each(["auto", "deterministic"] as const)(
    "is not undone by a step of mode %s that ends at the same instant",
    async (mode) => {
      let end = (): void => {};
      const work = () => new Promise<string>((resolve) => (end = () => resolve("late")));
      open({ sops: [sop("a", { mode, steps: [calling(1)] })], turn: work, call: work });
      const id = await made.start("a");
      await quiet();
      // The end of the step is queued behind the end of the run, in the same transaction.
      const cancelled = made.sops.cancel(id, "somebody");
      end();
      await cancelled;
      await quiet();
      expect(made.run(id).status).toBe("cancelled");
      expect(made.sops.readRun(id).steps.map(({ status }) => status)).toEqual(["cancelled"]);
      expect(kinds().filter((kind) => kind.endsWith("-end"))).toEqual(["sop-step-end", "sop-run-end"]);
    },
  );
});

test("a run that is cancelled before it begins does not begin", async () => {
  open({ sops: [sop("a", { mode: "supervised" })], idle: true });
  const id = await made.start("a");
  // Queued in front of its first step, in the same transaction.
  const cancelled = made.sops.cancel(id, "somebody");
  made.sops.start();
  await cancelled;
  await quiet();
  expect(made.run(id).status).toBe("cancelled");
  expect(made.sops.readRun(id).steps).toEqual([]);
  expect(made.approvals.list({}, 10).approvals).toEqual([]);
  expect(kinds()).toEqual(["sop-run-start", "sop-run-end"]);
});

describe("a step that fails", () => {
  test("while the model is down is tried again, and fails the run in the end", async () => {
    open({ sops: [sop("a")], turn: () => Promise.reject(new SvcError("MODEL_UNREACHABLE")) });
    const id = await made.start("a");
    await quiet();
    expect(made.turns).toHaveLength(1);
    await made.clock.advance(1_000);
    await quiet();
    expect(made.turns).toHaveLength(2);
    for (let minute = 0; minute < 15; minute += 1) {
      await made.clock.advance(60_000);
      await quiet();
    }
    expect(made.turns).toHaveLength(6);
    expect(made.run(id)).toMatchObject({ status: "failed", error: "MODEL_UNREACHABLE" });
    expect(made.sops.readRun(id).steps[0]!.status).toBe("failed");
  });

  test("is tried as often as any other, however often those before it were", async () => {
    const failures = [4, 4];
    open({
      sops: [sop("a")],
      turn: ({ turnId }) => {
        const at = Number(turnId.slice(-1)) - 1;
        if (failures[at]!-- > 0) throw new SvcError("BUSY");
        return "done";
      },
    });
    const id = await made.start("a");
    for (let minute = 0; minute < 15; minute += 1) {
      await quiet();
      await made.clock.advance(60_000);
    }
    await quiet();
    expect(made.run(id).status).toBe("completed");
  });

  test("for good fails the run at once, with its code", async () => {
    open({ sops: [sop("a")], turn: () => Promise.reject(new SvcError("AGENT_UNKNOWN")) });
    const id = await made.start("a");
    await quiet();
    expect(made.run(id)).toMatchObject({
      status: "failed",
      error: "AGENT_UNKNOWN",
      reason: expect.stringMatching(/^Step 1: /),
    });
  });

  test("for good leaves nothing of its turn on disk", async () => {
    open({
      sops: [sop("a")],
      turn: async ({ turnId }) => {
        await made.store.write(() => made.store.steps.add(turnId, { message: {}, inputTokens: 1, outputTokens: 1 }));
        throw new SvcError("COST_LIMIT");
      },
    });
    const id = await made.start("a");
    await quiet();
    expect(made.run(id)).toMatchObject({ status: "failed", error: "COST_LIMIT" });
    expect(made.abandoned).toEqual([`sop-${id}-1`]);
  });

  test("because the disk is full waits until it is not, and fails nothing", async () => {
    let isFull = true;
    open({
      sops: [sop("a")],
      turn: () => (isFull ? Promise.reject(new SvcError("STORE_FULL")) : "done"),
    });
    const id = await made.start("a");
    await quiet();
    for (let round = 0; round < 50; round += 1) await made.clock.advance(5_000);
    expect(made.run(id).status).toBe("running");
    isFull = false;
    await made.clock.advance(5_000);
    await quiet();
    expect(made.run(id).status).toBe("completed");
  });

  test("unexpectedly tells nothing of the error to anybody but the log", async () => {
    open({ sops: [sop("a")], turn: () => Promise.reject(new TypeError("sk-secret")) });
    const id = await made.start("a");
    await quiet();
    expect(made.run(id)).toMatchObject({ status: "failed", error: "SOP_STEP_FAILED" });
    expect(made.run(id).reason).not.toContain("sk-secret");
  });
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
