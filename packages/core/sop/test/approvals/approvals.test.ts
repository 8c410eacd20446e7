// An approval given twice, or to the wrong question, or by nobody; one that a restart forgets or asks for again.
import { setImmediate as nextTurn } from "node:timers/promises";
import { SvcError } from "@svc/contract";
import { beforeEach, describe, expect, test } from "vitest";
import { newApproval } from "../../src/approvals/new-approval.ts";
import { MAX_WAITING } from "../../src/approvals/requester.ts";
import {
  approvals,
  ask,
  channels,
  clock,
  DAY,
  events,
  having,
  key,
  log,
  never,
  OPERATOR,
  posted,
  registryForEachTest,
  request,
  restart,
  ROOM,
  statusOf,
  store,
  woken,
} from "./house.ts";

registryForEachTest();

const yes = { ...OPERATOR, approved: true };

describe("a request", () => {
  test("is kept, told of and posted once, to each conversation", async () => {
    const other = { channel: "chat", id: "other" };
    const approval = await ask("r-1", { conversations: [ROOM, other, { ...ROOM }] });
    expect(approval).toMatchObject({ n: 1, status: "waiting", expiresAtMs: clock.now() + DAY, origin: "external" });
    expect(events).toEqual([expect.objectContaining({ type: "human_approval_request", runId: "r-1", stepId: "gate" })]);
    expect(posted()).toHaveLength(2);
    expect(woken.map(({ conversation, approval: n }) => [conversation.id, n])).toEqual([
      ["room", 1],
      ["other", 1],
    ]);
    expect(approval.prompts.map(({ delivery }) => delivery)).toEqual(woken.map(({ n }) => n));
  });

  test("again, the same, finds the first: nothing is posted or told again, whatever is in between", async () => {
    const first = await ask("r-1");
    const again = await approvals.request(request("r-1", { askedBy: "another", expireMs: 5 }));
    expect(again).toMatchObject({ state: "existing", approval: { n: first.n, expiresAtMs: first.expiresAtMs } });
    restart();
    expect((await approvals.request(request("r-1"))).state).toBe("existing");
    expect(events).toHaveLength(1);
    expect(posted()).toHaveLength(1);
  });

  test.each([
    ["title", { title: "Delete?" }],
    ["message", { message: "something else" }],
    ["keywords", { approveKeywords: ["go"] }],
    ["channels", { channels: [] }],
    ["origin", { origin: "sop" as const }],
    ["subject", { subject: { tool: "shell" } }],
  ])("with another %s under the same key is refused", async (_, change) => {
    await ask("r-1");
    await expect(ask("r-1", change)).rejects.toMatchObject({ code: "APPROVAL_EXISTS" });
    expect(events).toHaveLength(1);
    expect(posted()).toHaveLength(1);
  });

  test("with the same subject is the same, however it is worded", async () => {
    await ask("r-1", { subject: { a: 1 } });
    expect((await approvals.request(request("r-1", { subject: { a: 1 }, title: "Other words" }))).state).toBe(
      "existing",
    );
  });

  test("under the key of one that has ended is refused until that one is gone", async () => {
    await ask("r-1");
    await approvals.resolve(key("r-1"), yes);
    await expect(ask("r-1")).rejects.toMatchObject({ code: "APPROVAL_EXISTS" });
    await store.prune({ sessionDays: 0, maxSessions: 0, toolCallDays: 30, messageDays: 30 }, clock.now() + 31 * DAY);
    expect(await ask("r-1")).toMatchObject({ n: 2, status: "waiting" });
    expect(posted().at(-1)).toContain("#2");
  });

  test.each([
    { runId: "" },
    { runId: ".." },
    { stepId: "a b" },
    { stepId: "a\u202eb" },
    { runId: "x".repeat(257) },
    { approveKeywords: ["no"] },
    { conversations: Array.from({ length: 65 }, (_, at) => ({ channel: "chat", id: `${at}` })) },
  ])("%j is refused, and nobody else pays for it", async (change) => {
    const [bad, good] = await Promise.allSettled([ask("r-1", change), ask("r-2")]);
    expect(bad).toMatchObject({ status: "rejected", reason: { code: "BAD_REQUEST" } });
    expect(good).toMatchObject({ status: "fulfilled", value: { n: 1 } });
  });

  test("inside a transaction that fails is neither kept nor told of", async () => {
    const failed = store.write(() => {
      approvals.requestIn(request("r-1"));
      throw new SvcError("BAD_REQUEST");
    });
    await expect(failed).rejects.toMatchObject({ code: "BAD_REQUEST" });
    expect(approvals.get(key("r-1"))).toBeUndefined();
    expect(events).toEqual([]);
    expect(posted()).toEqual([]);
    expect(clock.waiting).toBe(0);
  });

  test("beyond the most that may wait is told to come back", async () => {
    await store.write(() => {
      for (let n = 0; n < MAX_WAITING; n += 1) {
        store.approvals.add(newApproval(request(`w-${n}`), clock.now(), DAY));
      }
    });
    await expect(ask("r-1")).rejects.toMatchObject({ code: "BUSY" });
    await approvals.resolve(key("w-7"), yes);
    await expect(ask("r-1")).resolves.toMatchObject({ status: "waiting" });
  });

  test("that is long or full of half letters is bounded, and comes back as it was kept", async () => {
    const approval = await ask("r-1", { title: "\ud800".repeat(500), message: "😀".repeat(20_000) });
    expect(approval.title.length).toBeLessThanOrEqual(300);
    expect(approval.message.length).toBeLessThanOrEqual(16_384);
    expect(approval.message.isWellFormed()).toBe(true);
    restart();
    expect(approvals.get(key("r-1"))!.message).toBe(approval.message);
  });
});

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

describe("time", () => {
  test("is over: nobody has approved, somebody is told, and late answers are refused", async () => {
    await ask("r-1", { expireMs: 90_000 });
    const waiting = approvals.settled(key("r-1"), never);
    await clock.advance(89_999);
    expect(statusOf("r-1")).toBe("waiting");
    await clock.advance(1);
    expect(await waiting).toMatchObject({ status: "expired", answer: { via: "service" } });
    expect(events.at(-1)).toMatchObject({ approved: false, outcome: "expired" });
    expect(posted().at(-1)).toContain("nobody answered in time, so it is not approved");
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: "warn", message: expect.stringContaining("nobody answered") }),
    );
    await expect(approvals.resolve(key("r-1"), yes)).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
    expect(clock.waiting).toBe(0);
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
    expect(store.approvals.counts()).toMatchObject({ waiting: 1, expired: 119 });
    expect(log.lines.some(({ level }) => level === "error")).toBe(true);
  });

  test("stands still after a stop", async () => {
    await ask("r-1", { expireMs: 1000 });
    approvals.stop();
    expect(clock.waiting).toBe(0);
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

describe("a channel without approvers", () => {
  test("is asked all the same, and told who can answer", async () => {
    channels.set("chat", { approvers: [], maxChars: 4000 });
    await ask("r-1");
    expect(posted()[0]).toContain("Nobody may answer in this chat.");
    expect(posted()[0]).toContain("svc approvals approve 1");
  });
});
