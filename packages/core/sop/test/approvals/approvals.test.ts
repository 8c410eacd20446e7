// An approval given twice, or by nobody; one that a restart forgets or asks for again.
import { setImmediate as nextTurn } from "node:timers/promises";
import { SvcError } from "@svc/contract";
import { beforeEach, describe, expect, test } from "vitest";
import {
  approvals,
  ask,
  clock,
  events,
  having,
  key,
  never,
  OPERATOR,
  posted,
  registryForEachTest,
  request,
  restart,
  statusOf,
  store,
  woken,
  yes,
} from "./fixture.ts";

registryForEachTest();

describe("an answer", () => {
  beforeEach(() => ask("r-1"));

  test("ends it, and everybody is told: the event, who waits, and those who were asked", async () => {
    const waiting = approvals.settled(key("r-1"), never);
    const ended = await approvals.resolve(key("r-1"), { ...yes, feedback: "  looks good \n" });
    expect(ended).toMatchObject({
      status: "approved",
      answer: { feedback: "looks good", via: "cli", atMs: clock.now() },
    });
    expect(await waiting).toEqual(ended);
    expect(events.at(-1)).toEqual({
      type: "human_approval_resolved",
      runId: "r-1",
      stepId: "gate",
      approved: true,
      outcome: "approved",
      feedback: "looks good",
      by: OPERATOR.by,
    });
    expect(posted().at(-1)).toBe(
      'chat/room: #1 ("Deploy?"): approved by an operator at the command line.\n> looks good',
    );
    expect(woken).toHaveLength(2);
  });

  test("a no is told as one", async () => {
    await approvals.resolve(key("r-1"), { by: "phone", via: "page", approved: false });
    expect(events.at(-1)).toMatchObject({ approved: false, outcome: "rejected", feedback: undefined });
    expect(posted().at(-1)).toBe('chat/room: #1 ("Deploy?"): rejected by phone on the page.');
  });

  test("the first counts; later ones are told who and when, also after a restart", async () => {
    await approvals.resolve(key("r-1"), yes);
    const sentence = "It is over already: approved by an operator at the command line, at 2026-01-01 00:00 UTC.";
    const later = { by: "phone", via: "page", approved: false } as const;
    await expect(approvals.resolve(key("r-1"), later)).rejects.toMatchObject({
      code: "APPROVAL_RESOLVED",
      message: sentence,
    });
    restart();
    await expect(approvals.resolve(key("r-1"), later)).rejects.toMatchObject({ code: "APPROVAL_RESOLVED" });
    expect(statusOf("r-1")).toBe("approved");
  });

  test("of a hundred at once one counts, and all others are told; everybody who waits wakes once", async () => {
    const waiting = Promise.all(Array.from({ length: 10 }, () => approvals.settled(key("r-1"), never)));
    const answers = await Promise.allSettled(
      Array.from({ length: 100 }, (_, at) =>
        approvals.resolve(key("r-1"), { by: `w${at}`, via: "api", approved: at % 2 === 0 }),
      ),
    );
    const won = answers.filter(({ status }) => status === "fulfilled");
    expect(won).toHaveLength(1);
    const lost = answers.filter((each) => each.status === "rejected");
    expect(lost.every(({ reason }) => (reason as SvcError).code === "APPROVAL_RESOLVED")).toBe(true);
    expect(lost.every(({ reason }) => (reason as SvcError).message.includes("approved by w0"))).toBe(true);
    expect(new Set((await waiting).map(({ status }) => status))).toEqual(new Set(["approved"]));
    expect(events.filter(({ type }) => type === "human_approval_resolved")).toHaveLength(1);
    expect(posted()).toHaveLength(2);
  });

  test("to what nobody asked is refused", async () => {
    await expect(approvals.resolve(key("r-2"), yes)).rejects.toMatchObject({ code: "APPROVAL_UNKNOWN" });
    await expect(approvals.settled(key("r-2"), never)).rejects.toMatchObject({ code: "APPROVAL_UNKNOWN" });
  });

  test("inside a transaction that fails is none", async () => {
    const failed = store.write(() => {
      approvals.resolveIn(key("r-1"), yes);
      throw new Error("no");
    });
    await expect(failed).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(statusOf("r-1")).toBe("waiting");
    expect(events).toHaveLength(1);
    expect(posted()).toHaveLength(1);
  });

  test("has its hook in the same transaction, and what that returns after it", async () => {
    const seen: string[] = [];
    having({
      onRequested: ({ runId }) => void seen.push(`requested ${runId}`),
      onSettled: ({ status }) => {
        seen.push(`settled ${status}, told ${events.length}`);
        return () => seen.push(`after ${status}, told ${events.length}`);
      },
    });
    await ask("r-2");
    await approvals.resolve(key("r-2"), yes);
    expect(seen).toEqual(["requested r-2", "settled approved, told 2", "after approved, told 3"]);
    having({
      onSettled: () => {
        throw new Error("the engine can't");
      },
    });
    await expect(approvals.resolve(key("r-1"), yes)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(statusOf("r-1")).toBe("waiting");
  });

  test("that is told before its question was is told behind it, and the question once", async () => {
    const [asked, ended] = await store.write(() => [
      approvals.requestIn(request("r-2")),
      approvals.resolveIn(key("r-2"), yes),
    ]);
    ended!.committed();
    asked!.committed();
    expect(events.slice(1).map(({ type }) => type)).toEqual(["human_approval_request", "human_approval_resolved"]);
  });

  test("can be taken back by whoever asked, once", async () => {
    const cancel = () => store.write(() => approvals.cancelIn(key("r-1"), "the run was cancelled"));
    (await cancel())?.committed();
    expect(events.at(-1)).toMatchObject({ approved: false, outcome: "cancelled", by: "the run was cancelled" });
    expect(posted().at(-1)).toContain("called off: the run was cancelled");
    expect(await cancel()).toBeUndefined();
    await expect(approvals.resolve(key("r-1"), yes)).rejects.toMatchObject({ code: "APPROVAL_RESOLVED" });
  });
});

describe("who waits for the end", () => {
  test("is told at once of one that has ended, and stops waiting when nobody wants to know", async () => {
    await ask("r-1");
    const given = new AbortController();
    const waiting = approvals.settled(key("r-1"), given.signal);
    given.abort(new SvcError("TURN_CANCELLED"));
    await expect(waiting).rejects.toMatchObject({ code: "TURN_CANCELLED" });
    await expect(approvals.settled(key("r-1"), given.signal)).rejects.toMatchObject({ code: "TURN_CANCELLED" });
    await approvals.resolve(key("r-1"), yes);
    expect(await approvals.settled(key("r-1"), never)).toMatchObject({ status: "approved" });
  });
});

describe("a restart", () => {
  test("changes nothing: what waits goes on waiting, and nobody is asked or told again", async () => {
    await ask("r-1");
    await nextTurn();
    const before = approvals.get(key("r-1"));
    restart();
    await clock.advance(60_000);
    expect(approvals.get(key("r-1"))).toEqual(before);
    expect(events).toHaveLength(1);
    expect(posted()).toHaveLength(1);
    await approvals.resolve(key("r-1"), yes);
    expect(posted()).toHaveLength(2);
  });

  test("between what is kept and what is told makes the next request tell it", async () => {
    await store.write(() => approvals.requestIn(request("r-1")));
    expect(events).toEqual([]);
    restart();
    const { state, approval } = await approvals.request(request("r-1"));
    expect(state).toBe("existing");
    expect(events).toHaveLength(1);
    expect(approvals.eventIdOf(approval)).toBe(approvals.eventIdOf(approvals.get(key("r-1"))!));
    await approvals.request(request("r-1"));
    expect(events).toHaveLength(1);
    expect(posted()).toHaveLength(1);
  });

  test("keeps the id of the event", async () => {
    const id = approvals.eventIdOf(await ask("r-1"));
    await nextTurn();
    restart();
    expect(approvals.get(key("r-1"))!.eventId).toBe(id);
  });
});

describe("a list", () => {
  test("is paged without gap or repetition, newest first", async () => {
    for (let n = 1; n <= 5; n += 1) await ask(`r-${n}`);
    const first = approvals.list({}, 2);
    const second = approvals.list({ before: first.next! }, 2);
    const third = approvals.list({ before: second.next! }, 2);
    const all = [first, second, third].flatMap((page) => page.approvals.map(({ n }) => n));
    expect(all).toEqual([5, 4, 3, 2, 1]);
    expect(third.next).toBeUndefined();
    expect(approvals.list({ status: "approved" }, 2)).toEqual({ approvals: [], next: undefined });
  });
});
