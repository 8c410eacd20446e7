// An answer that was meant for another question of the same chat.
import { describe, expect, test } from "vitest";
import { approvals, ask, clock, key, OPERATOR, registryForEachTest, say, statusOf, store } from "./fixture.ts";

registryForEachTest();

const ONE_WAITS = "Nothing was answered. Say which one";

describe("several that wait in one conversation", () => {
  test("the reply has to say which; else nothing is answered and the sender is told", async () => {
    await ask("r-1", { title: "First" });
    await ask("r-2", { title: "Second" });
    const told = await say("approve");
    expect(told).toContain(ONE_WAITS);
    expect(told).toContain('#1 "First"');
    expect(told).toContain('#2 "Second"');
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["waiting", "waiting"]);
    expect(await say("approve #2 well done")).toContain("#2");
    expect(approvals.get(key("r-2"))).toMatchObject({ status: "approved", answer: { feedback: "well done" } });
    expect(await say("no too early")).toContain("#1");
    expect(approvals.get(key("r-1"))).toMatchObject({ status: "rejected", answer: { feedback: "too early" } });
  });

  test("the only one whose keywords fit is meant", async () => {
    await ask("r-1", { approveKeywords: ["ship"], rejectKeywords: [] });
    await ask("r-2");
    expect(await say("ship")).toContain("#1");
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["approved", "waiting"]);
  });

  test("a word that approves one and rejects the other is asked back", async () => {
    await ask("r-1", { approveKeywords: ["go"], rejectKeywords: [] });
    await ask("r-2", { approveKeywords: [], rejectKeywords: ["go"] });
    expect(await say("go")).toContain(ONE_WAITS);
    expect(await say("go #2")).toContain("rejected");
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["waiting", "rejected"]);
  });

  test("one whose time is over is not counted", async () => {
    await ask("r-1", { expireMs: 1000 });
    await ask("r-2");
    clock.setWallClock(clock.now() + 1000);
    expect(await say("yes")).toContain("#2");
    expect(await say("yes")).toContain("expired");
    expect([statusOf("r-1"), statusOf("r-2")]).toEqual(["waiting", "approved"]);
  });

  test("more than are looked at are not taken for the only one; by its number each can be answered", async () => {
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => ask(`r-${n}`, { approveKeywords: n === 0 ? ["go"] : ["yes"] })),
    );
    expect(await say("go")).toContain(ONE_WAITS);
    expect(await say("yes #60")).toContain("#60");
    expect(store.approvals.countWaiting()).toBe(59);
  });

  test("a hundred are not all listed", async () => {
    await Promise.all(Array.from({ length: 100 }, (_, n) => ask(`r-${n}`)));
    const told = (await say("yes"))!;
    expect(told.split("\n")).toHaveLength(12);
    expect(told).toContain("and more");
  });
});

describe("a number", () => {
  test.each(["approve #2", "approve #99 now", "approve #2.", "approve 2", "approve 2."])(
    "of another one (%s) never answers the only one",
    async (text) => {
      await ask("r-1");
      expect(await say(text)).toContain(ONE_WAITS);
      expect(statusOf("r-1")).toBe("waiting");
    },
  );

  test.each([
    ["approve #1", undefined],
    ["approve 1", undefined],
    ["approve 2 minutes later", "2 minutes later"],
    ["approve #1, use TLS", "use TLS"],
    ["approve #1: #2 is next", "#2 is next"],
    ["approve issue #7", "issue #7"],
    ["approve #1x", "#1x"],
  ])("%s", async (text, feedback) => {
    await ask("r-1");
    expect(await say(text)).toContain("approved");
    expect(approvals.get(key("r-1"))!.answer!.feedback).toBe(feedback);
  });

  test("of one that was answered tells who did; of one that was asked elsewhere it tells nothing", async () => {
    await ask("r-1");
    await ask("r-2", { conversations: [{ channel: "chat", id: "other" }] });
    await approvals.resolve(key("r-1"), { ...OPERATOR, approved: true });
    await approvals.resolve(key("r-2"), { ...OPERATOR, approved: true });
    expect(await say("reject #1")).toContain("approved by an operator");
    expect(await say("reject #2")).toBe("ordinary");
    expect(await say("reject #3")).toBe("ordinary");
    expect(await say("what about #1")).toBe("ordinary");
  });
});
