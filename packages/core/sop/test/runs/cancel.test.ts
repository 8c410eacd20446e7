// A run that goes on although somebody has cancelled it, or that ends twice because a step ends at the same instant.
import { afterEach, describe, expect, test } from "vitest";
import { calling, type Fixture, fixture, type FixtureOptions, quiet, sop } from "./fixture.ts";

let made: Fixture;
const open = (options: FixtureOptions): Fixture => (made = fixture(options));
afterEach(() => made[Symbol.dispose]());

const kinds = (): string[] =>
  made.store.audit
    .list(100)
    .map(({ kind }) => kind)
    .toReversed();

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

  test("calls off what a call of its step asks, though the process that asked is gone", async () => {
    open({ sops: [sop("a")], turn: () => new Promise(() => {}) });
    const id = await made.start("a");
    await quiet();
    const about = (runId: string, origin: "tool" | "external") =>
      made.approvals.request({
        runId,
        stepId: origin,
        origin,
        title: "?",
        message: "",
        askedBy: "b",
        conversations: [],
      });
    await about(`sop-${id}-1`, "tool");
    await about(`sop-${id}-1`, "external");
    await about("t-other", "tool");
    await made.sops.cancel(id, "somebody");
    expect(made.approvals.list({}, 10).approvals.map(({ status }) => status)).toEqual([
      "waiting",
      "waiting",
      "cancelled",
    ]);
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
