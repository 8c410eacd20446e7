// A step that is not tried again although that would help, or for ever although it would not; a run that a full disk fails.
import { SvcError } from "@svc/contract";
import { halfOfEachWait } from "@svc/testkit/half-of-each-wait";
import { afterEach, describe, expect, test } from "vitest";
import { type Fixture, fixture, type FixtureOptions, quiet, sop } from "./fixture.ts";

let made: Fixture;
const open = (options: FixtureOptions): Fixture => (made = fixture(options));
afterEach(() => made[Symbol.dispose]());

describe("a step that fails", () => {
  test("while the model is down is tried again, and fails the run in the end", async () => {
    using _ = halfOfEachWait();
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
    expect(made.turns).toHaveLength(11);
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

  test("because a write is refused that no other try would change, while the disk is well, fails the run", async () => {
    open({ sops: [sop("a")], turn: () => Promise.reject(new SvcError("STORE_FAILED")) });
    const id = await made.start("a");
    for (let round = 0; round < 10; round += 1) {
      await quiet();
      await made.clock.advance(5_000);
    }
    expect(made.turns).toHaveLength(6);
    expect(made.run(id)).toMatchObject({ status: "failed", error: "STORE_FAILED" });
    expect(made.log.lines.filter(({ message }) => message.includes("tried again"))).toHaveLength(1);
  });

  test("unexpectedly tells nothing of the error to anybody but the log", async () => {
    open({ sops: [sop("a")], turn: () => Promise.reject(new TypeError("sk-secret")) });
    const id = await made.start("a");
    await quiet();
    expect(made.run(id)).toMatchObject({ status: "failed", error: "SOP_STEP_FAILED" });
    expect(made.run(id).reason).not.toContain("sk-secret");
  });
});
