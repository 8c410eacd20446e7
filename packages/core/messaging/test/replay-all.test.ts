// An operator after an outage: a message passed over or answered twice, an answer that nobody can wait for, a service that
// stands still while a hundred thousand are taken up again.
import { type Json, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { say } from "./delivery-fixture.ts";
import { codeOf, desk, inbound } from "./admin-fixture.ts";

describe("replay of all", () => {
  const never = new AbortController().signal;

  /** Messages of two channels in turn, all failed. */
  async function failed(agentFixture: ReturnType<typeof desk>, count: number): Promise<void> {
    const { store, clock } = agentFixture;
    const body = inbound("hello", {}) as unknown as Json;
    await store.write(() => {
      for (let n = 1; n <= count; n += 1) {
        const channel = n % 2 === 0 ? "even" : "odd";
        store.inbox.arrive({ channel, messages: [{ kind: "message", conversationKey: `${n}`, body }] }, clock.now());
        store.inbox.end(n, "failed", "TURN_FAILED");
      }
    });
  }

  test("that failed: more than one page of them, in order of arrival, of one channel or of all; named are a thousand", async () => {
    using agentFixture = desk();
    const { messageAdmin, store, told } = agentFixture;
    await failed(agentFixture, 2_500);
    const even = { state: "failed", channel: "even" } as const;
    expect([await messageAdmin.countEnded(even), await messageAdmin.countEnded({ state: "failed" })]).toEqual([
      1_250, 2_500,
    ]);
    const done = await messageAdmin.replayAll(even, never);
    expect([done.count, done.ids.length, done.ids[999]]).toEqual([1_250, 1_000, "in-2000"]);
    expect(told.inbox).toEqual(Array.from({ length: 1_250 }, (_, index) => 2 * (index + 1)));
    expect(store.inbox.counts().inbox).toMatchObject({ waiting: 1_250, failed: 1_250 });
    expect(await messageAdmin.replayAll({ state: "failed", channel: "other" }, never)).toEqual({ count: 0, ids: [] });
    expect(await messageAdmin.replayAll({ state: "failed" }, never)).toMatchObject({ count: 1_250 });
    expect(await messageAdmin.replayAll({ state: "failed" }, never)).toEqual({ count: 0, ids: [] });
  });

  test("that are dead, and nothing that was dropped, sent, or waits", async () => {
    using agentFixture = desk();
    const { put, messageAdmin, store, told } = agentFixture;
    await put(...["1", "2", "3", "4", "5"].map((text) => say("a", text)));
    await store.write(() => {
      for (const n of [1, 4]) store.outbox.dead(n, "DELIVERY_REFUSED", 1);
      store.outbox.drop(2);
      store.outbox.sent(3, "p", 1);
    });
    expect(await messageAdmin.replayAll({ state: "dead" }, never)).toEqual({ count: 2, ids: ["out-1", "out-4"] });
    expect([told.outbox, told.inbox]).toEqual([["1 waiting", "4 waiting"], []]);
    expect(store.outbox.counts()).toEqual({ waiting: 3, sent: 1, dead: 0, dropped: 1 });
  });

  test("takes up none a second time that fails again at once", async () => {
    using agentFixture = desk();
    const { messageAdmin, store, told } = agentFixture;
    await failed(agentFixture, 1_000);
    const wake = told.inbox.push.bind(told.inbox);
    told.inbox.push = (n) => {
      void store.write(() => store.inbox.end(n, "failed", "TURN_FAILED"));
      return wake(n);
    };
    expect(await messageAdmin.replayAll({ state: "failed" }, never)).toMatchObject({ count: 1_000 });
    await store.write(() => {});
    expect([told.inbox.length, store.inbox.counts().inbox.failed]).toEqual([1_000, 1_000]);
  });

  test("lets others have their turn between its pages, and ends when nobody waits for it any more", async () => {
    using agentFixture = desk();
    const { messageAdmin, store, told } = agentFixture;
    await failed(agentFixture, 1_000);
    const gone = new AbortController();
    const replayed = messageAdmin.replayAll({ state: "failed" }, gone.signal);
    await store.write(() => {});
    gone.abort(new SvcError("CANCELLED"));
    expect(await codeOf(replayed)).toBe("CANCELLED");
    // What it had taken up by then is on disk, and is worked on.
    const { waiting } = store.inbox.counts().inbox;
    expect(waiting).toBeGreaterThan(0);
    expect(waiting).toBeLessThan(1_000);
    expect(told.inbox).toHaveLength(waiting);
  });
});
