// An approval that waits for ever, ends too early, or is given by a clock.
import { setImmediate as nextTurn } from "node:timers/promises";
import { currentScope, inScope } from "@svc/runtime";
import { describe, expect, test } from "vitest";
import {
  approvals,
  ask,
  clock,
  events,
  having,
  key,
  log,
  never,
  posted,
  registryForEachTest,
  restart,
  statusOf,
  store,
  yes,
} from "./fixture.ts";

registryForEachTest();

describe("time", () => {
  test("is over: nobody has approved, somebody is told, and late answers are refused", async () => {
    await ask("r-1", { expireMs: 90_000 });
    const waiting = approvals.settled(key("r-1"), never);
    await clock.advance(89_999);
    expect(statusOf("r-1")).toBe("waiting");
    await clock.advance(1);
    expect(await waiting).toMatchObject({ status: "expired", answer: { via: "service" } });
    expect(events.at(-1)).toMatchObject({ approved: false, outcome: "expired" });
    expect(posted().at(-1)).toContain("not approved: no answer in time");
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: "warn", message: expect.stringContaining("approval request expired") }),
    );
    await expect(approvals.resolve(key("r-1"), yes)).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
    expect(clock.waiting).toBe(0);
  });

  test("that is over is the work of no request and no turn, whoever asked last", async () => {
    const scopes: unknown[] = [];
    having({
      publish: () => {
        scopes.push(currentScope());
        return { id: "boot-1" };
      },
    });
    await ask("r-1", { expireMs: 90_000 });
    await inScope({ request: "b-1", turn: "t-1" }, () => clock.advance(90_000));
    expect([statusOf("r-1"), scopes.at(-1)]).toEqual(["expired", {}]);
  });

  test("that is over counts before anybody has noticed", async () => {
    await ask("r-1", { expireMs: 10_000 });
    clock.setWallClock(clock.now() + 10_000);
    await expect(approvals.resolve(key("r-1"), yes)).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
    expect(statusOf("r-1")).toBe("waiting");
  });

  test("that jumps ahead is noticed within half a minute; one that jumps back makes it wait longer, and approves nothing", async () => {
    await ask("ahead", { expireMs: 3_600_000 });
    clock.setWallClock(clock.now() + 7_200_000);
    await clock.advance(30_000);
    expect(statusOf("ahead")).toBe("expired");
    await ask("back", { expireMs: 60_000 });
    clock.setWallClock(clock.now() - 3_600_000);
    await clock.advance(3_600_000);
    expect(statusOf("back")).toBe("waiting");
    await clock.advance(60_000);
    expect(statusOf("back")).toBe("expired");
    expect(events.filter((event) => event.type === "human_approval_resolved" && event.approved)).toEqual([]);
  });

  test("that was over while nobody ran is noticed by the next start", async () => {
    await ask("r-1", { expireMs: 60_000 });
    await ask("r-2");
    approvals.stop();
    await clock.advance(120_000);
    expect(statusOf("r-1")).toBe("waiting");
    restart();
    await clock.advance(0);
    await nextTurn();
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["expired", "waiting"]);
  });

  test("many at once all end, the nearest first, and one that can't be ended keeps none of the others", async () => {
    having({
      onSettled: ({ runId }) => {
        if (runId === "r-3") throw new Error("the engine can't");
        return () => undefined;
      },
    });
    await Promise.all(Array.from({ length: 120 }, (_, n) => ask(`r-${n}`, { expireMs: 1000, conversations: [] })));
    await clock.advance(1000);
    await clock.advance(60_000);
    expect(store.approvals.list({ status: "expired" }, 200)).toHaveLength(119);
    expect(statusOf("r-3")).toBe("waiting");
    expect(log.lines.some(({ level }) => level === "error")).toBe(true);
  });

  test("stands still after a stop", async () => {
    await ask("r-1", { expireMs: 1000 });
    approvals.stop();
    expect(clock.waiting).toBe(0);
  });
});
