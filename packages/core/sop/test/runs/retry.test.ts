// A retry that does twice what was done once, takes over a result of another step, or goes round a gate.
import type { ClientId } from "@svc/contract";
import { afterEach, expect, test } from "vitest";
import { calling, type Fixture, fixture, type FixtureOptions, quiet, sop, STARTER, step } from "./fixture.ts";

let made: Fixture;
const open = (options: FixtureOptions): Fixture => (made = fixture(options));
afterEach(() => made[Symbol.dispose]());

const outputs = (id: string): unknown[] => made.sops.readRun(id).steps.map(({ output }) => output);

/** The second step fails until `works` says otherwise. */
function failing(more: Partial<FixtureOptions> = {}) {
  const state = { works: false };
  const steps = [calling(1), calling(2), calling(3)];
  open({
    sops: [sop("a", { mode: "deterministic", steps })],
    call: ({ turnId }) => {
      if (turnId.endsWith("-2") && !state.works) throw new Error("no");
      return `done ${turnId.slice(-1)}`;
    },
    ...more,
  });
  return state;
}

test("goes on from a step, takes over the results before it, and does not repeat them", async () => {
  const state = failing({ acts: () => false });
  const id = await made.start("a", '{"x":1}');
  await quiet();
  expect(made.run(id)).toMatchObject({ status: "failed", step: 2 });
  state.works = true;
  const { run, asks } = await made.sops.retry(id, 2, STARTER);
  await quiet();
  expect(asks).toEqual([]);
  expect(run).toMatchObject({ retryOf: id, firstStep: 2, payload: '{"x":1}', source: "webhook", isTest: false });
  expect(made.run(run.id)).toMatchObject({ status: "completed", step: 3 });
  expect(outputs(run.id)).toEqual(["done 1", "done 2", "done 3"]);
  // The old run stays as it was, and its first step was called once.
  expect(made.run(id).status).toBe("failed");
  expect(made.calls.filter(({ turnId }) => turnId.endsWith("-1"))).toHaveLength(1);
  expect(
    made.store.audit.list(10).find(({ kind, data }) => kind === "sop-run-start" && "retry_of" in (data as object)),
  ).toMatchObject({ data: { retry_of: id, first_step: 2, started_by: "a test" } });
});

test("a step that may have acted waits for a person, in a mode without gates, and a no leaves it undone", async () => {
  const state = failing();
  const id = await made.start("a");
  await quiet();
  state.works = true;
  const { run, asks } = await made.sops.retry(id, 2, STARTER);
  await quiet();
  expect(asks).toEqual([2]);
  expect(made.run(run.id)).toMatchObject({ status: "waiting_approval", step: 2 });
  expect(made.calls).toHaveLength(2);
  const [asked] = made.approvals.list({ runId: run.id }, 10).approvals;
  expect(asked!.message).toContain(`The run ${id} may have done this already`);
  await made.answerAll(false);
  await quiet();
  expect(made.run(run.id).status).toBe("cancelled");
  expect(made.calls).toHaveLength(2);
  // Of the retry that did nothing, the next retry knows it still.
  const again = await made.sops.retry(run.id, 2, STARTER);
  await quiet();
  expect(again.asks).toEqual([2]);
  await made.answerAll();
  await quiet();
  expect(made.run(again.run.id).status).toBe("completed");
});

test("what was taken over and acted is known to a retry of the retry from further in front", async () => {
  const state = failing();
  const id = await made.start("a");
  await quiet();
  const { run } = await made.sops.retry(id, 2, STARTER);
  await quiet();
  await made.answerAll(false);
  await quiet();
  state.works = true;
  const again = await made.sops.retry(run.id, 1, STARTER);
  await quiet();
  expect(again.asks).toEqual([1, 2]);
  expect(made.run(again.run.id)).toMatchObject({ status: "waiting_approval", step: 1 });
});

test("a step of a model that called an acting tool waits too; one that only read does not", async () => {
  const steps = [step(1, { tools: ["read"] }), step(2, { tools: ["act"] })];
  let works = false;
  open({
    sops: [sop("a", { steps })],
    turn: async ({ turnId, tools: [tool] }) => {
      const call = {
        turnId,
        callId: "1",
        agent: "a",
        client: "c" as ClientId,
        tool: tool!,
        acting: tool === "act",
        input: null,
      };
      await made.store.write(() => made.store.toolCalls.start(call));
      if (tool === "act" && !works) throw new Error("no");
      return "did";
    },
  });
  const id = await made.start("a");
  await quiet();
  expect(made.run(id)).toMatchObject({ status: "failed", step: 2 });
  works = true;
  expect((await made.sops.retry(id, 1, STARTER)).asks).toEqual([2]);
});

test("calls that retention has dropped are taken for acts", async () => {
  open({ sops: [sop("a", { steps: [step(1, { tools: ["act"] }), step(2)] })] });
  const id = await made.start("a");
  await quiet();
  await made.clock.advance(2 * 86_400_000);
  expect((await made.sops.retry(id, 1, STARTER)).asks).toEqual([1]);
});

test("the first step of a retry has the gate that the first step of a run has", async () => {
  const works = { now: false };
  open({
    sops: [sop("a", { mode: "supervised" })],
    turn: ({ turnId }) => {
      if (turnId.endsWith("-2") && !works.now) throw new Error("no");
      return "did";
    },
  });
  const id = await made.start("a");
  await quiet();
  await made.answerAll();
  await quiet();
  expect(made.run(id)).toMatchObject({ status: "failed", step: 2 });
  works.now = true;
  const { run } = await made.sops.retry(id, 2, STARTER);
  await quiet();
  expect(made.run(run.id)).toMatchObject({ status: "waiting_approval", step: 2 });
});

test("refuses what has not ended, has no result, has changed, is not there, or may not start now", async () => {
  const state = failing({ acts: () => false, maxConcurrentTotal: 1 });
  const id = await made.start("a");
  const code = (from: number, run = id): Promise<unknown> =>
    made.sops.retry(run, from, STARTER).then(
      () => undefined,
      ({ code: said }: { code: string }) => said,
    );
  expect(await code(1)).toBe("SOP_RUN_ACTIVE");
  await quiet();
  expect(await code(1, "r-none")).toBe("SOP_RUN_UNKNOWN");
  expect(await code(3)).toBe("SOP_RETRY_REFUSED");
  expect(await code(4)).toBe("SOP_RETRY_REFUSED");
  expect(await code(0)).toBe("SOP_RETRY_REFUSED");
  made.define(sop("a", { mode: "deterministic", steps: [calling(1, { other: 1 }), calling(2)] }));
  expect(await code(2)).toBe("SOP_RETRY_REFUSED");
  made.define(sop("a", { mode: "deterministic", steps: [calling(1), calling(2)], isDisabled: true }));
  expect(await code(2)).toBe("SOP_DISABLED");
  made.define();
  expect(await code(1)).toBe("SOP_UNKNOWN");
  expect(made.store.sopRuns.list({}, 10)).toHaveLength(1);
  // A step behind that was corrected is done as it is now.
  state.works = true;
  made.define(sop("a", { mode: "deterministic", steps: [calling(1), calling(2, { other: 1 })] }));
  const { run } = await made.sops.retry(id, 2, STARTER);
  await quiet();
  expect(made.run(run.id).status).toBe("completed");
  expect(made.calls.at(-1)!.input).toEqual({ other: 1 });
});

test("a retry that a kill interrupts goes on at its first step", async () => {
  const state = failing({ acts: () => false });
  const id = await made.start("a");
  await quiet();
  state.works = true;
  await made.sops.stop(0);
  const { run } = await made.sops.retry(id, 2, STARTER);
  expect(made.run(run.id)).toMatchObject({ status: "pending", step: 2 });
  const first = made;
  open({ sops: [], folder: first.folder, clock: first.clock, call: () => "after", acts: () => false });
  await quiet();
  expect(made.run(run.id)).toMatchObject({ status: "completed", step: 3 });
  expect(outputs(run.id)).toEqual(["done 1", "after", "after"]);
  const second = made;
  made = first;
  second[Symbol.dispose]();
});
