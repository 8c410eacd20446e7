// An order of events, answers, cancellations, kills and time that nobody thought of, after which a run is lost, ends twice,
// or is in a state that its steps and its questions contradict.
import { rmSync } from "node:fs";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { fakeClock } from "@svc/testkit/fake-clock";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { SvcError } from "@svc/contract";
import { expect, test } from "vitest";
import { calling, type Fixture, fixture, quiet, sop, step, webhook, STARTER } from "./fixture.ts";
import { leaveBehind } from "./kills.ts";

const SOPS = [
  sop("auto", { maxConcurrent: 2 }),
  sop("each", { mode: "step_by_step", maxConcurrent: 2, cooldownMs: 1_000 }),
  sop("calls", { mode: "deterministic", steps: [calling(1, { x: "$" }), step(2, { kind: "checkpoint" }), calling(3)] }),
];

type Order =
  | { readonly do: "start"; readonly sop: string }
  | { readonly do: "answer"; readonly approved: boolean }
  | { readonly do: "cancel"; readonly which: number }
  | { readonly do: "kill" }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "fail"; readonly times: number }
  /** What was begun has not time to end before the next order. */
  | { readonly do: "hurry" };

const order: fc.Arbitrary<Order> = fc.oneof(
  fc.record({ do: fc.constant("start" as const), sop: fc.constantFrom("auto", "each", "calls") }),
  fc.record({ do: fc.constant("answer" as const), approved: fc.boolean() }),
  fc.record({ do: fc.constant("cancel" as const), which: fc.nat(5) }),
  fc.record({ do: fc.constant("kill" as const) }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(500, 5_000, 200_000, 90_000_000) }),
  fc.record({ do: fc.constant("fail" as const), times: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ do: fc.constant("hurry" as const) }),
);

function check(made: Fixture, acts: readonly string[]): void {
  const { store } = made;
  const lines = store.audit.list(10_000).map(({ kind, data }) => `${kind} ${(data as { run_id: string }).run_id}`);
  for (const run of made.sops.runs({}, 1_000).runs) {
    const { steps } = made.sops.readRun(run.id);
    const ends = lines.filter((line) => line === `sop-run-end ${run.id}`).length;
    expect(ends).toBe(run.endedAtMs === undefined ? 0 : 1);
    expect(lines.filter((line) => line === `sop-run-start ${run.id}`)).toHaveLength(1);
    expect(
      steps.filter(({ endedAtMs }) => endedAtMs === undefined).map(({ step: at, status }) => [at, status]),
    ).toEqual(run.endedAtMs === undefined && run.status !== "pending" ? [[run.step, run.status]] : []);
    const waiting = made.approvals.list({ status: "waiting", runId: run.id }, 10).approvals;
    expect(waiting).toHaveLength(run.status === "waiting_approval" ? 1 : 0);
    expect(run.status === "completed" && steps.some(({ status }) => status !== "completed")).toBe(false);
  }
  expect(new Set(acts).size).toBe(acts.length);
}

test("in whatever order things happen, each run is in one state, and ends once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(order, { maxLength: 25 }), async (orders) => {
      const clock = fakeClock();
      const folders: string[] = [];
      const acts: string[] = [];
      let failures = 0;
      const live = (folder: string): Fixture =>
        fixture({
          sops: SOPS,
          folder,
          clock,
          maxConcurrentTotal: 4,
          turn: async () => {
            if (failures-- > 0) throw new SvcError("MODEL_UNREACHABLE");
            return "done";
          },
          call: ({ turnId }) => `act ${acts.push(turnId)}`,
        });
      const folder = (): string => folders[folders.push(temporaryHome().path) - 1]!;
      let made = live(folder());
      for (const one of orders) {
        if (one.do === "start") await made.sops.dispatch(webhook(one.sop, "[1]"), STARTER);
        if (one.do === "answer") await made.answerAll(one.approved).catch(isLate);
        if (one.do === "cancel") {
          const run = made.sops.runs({}, 10).runs[one.which];
          if (run) await made.sops.cancel(run.id, "somebody").catch(isLate);
        }
        if (one.do === "wait") await made.clock.advance(one.ms);
        if (one.do === "fail") failures = one.times;
        if (one.do === "kill") {
          const next = folder();
          leaveBehind(made.folder, next);
          made[Symbol.dispose]();
          made = live(next);
        }
        if (one.do === "hurry") continue;
        await quiet();
        check(made, acts);
      }
      failures = 0;
      for (let round = 0; round < 20; round += 1) {
        await made.clock.advance(300_000);
        await quiet();
        await made.answerAll().catch(isLate);
        await quiet();
      }
      check(made, acts);
      expect(made.store.sopRuns.active()).toEqual([]);
      expect((await made.sops.audit.verify()).brokenAt).toBeUndefined();
      made[Symbol.dispose]();
      for (const path of folders) rmSync(path, { recursive: true, force: true });
    }),
    { numRuns: cases(40) },
  );
});

/** Somebody else was first. */
function isLate(error: unknown): void {
  expect(["SOP_RUN_ENDED", "APPROVAL_RESOLVED", "APPROVAL_EXPIRED"]).toContain((error as SvcError).code);
}
