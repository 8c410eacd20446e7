// An answer that is lost, kept twice by a resumed turn, or whose fate nobody can tell.
import type { DeliveryUpdate } from "@svc/contract";
import { beforeEach, describe, expect, test } from "vitest";
import type { Delivery, NewDelivery } from "../src/index.ts";
import { crash, home, store, storeForEachTest } from "./each-test.ts";
import { arriveAt, delivery } from "./fixture.ts";

storeForEachTest();

const add = (...deliveries: NewDelivery[]): Promise<Delivery[]> =>
  store.write(() => store.outbox.add(deliveries, home.clock.now()));
const read = (n: number): Delivery => store.outbox.read(n)!;

describe("what is added", () => {
  const full: NewDelivery = {
    conversation: { channel: "chat", id: "room", thread: "t" },
    conversationKey: "room",
    text: "hello \u0000 \u{1f600}",
    files: [{ kind: "image", path: "a.png", agent: "default" }],
    replyData: { messageId: "<1@x>" },
    turnId: "t-1",
    key: "t-1:call",
    approval: 7,
  };

  test("is there after a kill as it was added, under the same delivery id", async () => {
    const [added] = await add(full);
    expect(added).toEqual({
      ...full,
      n: 1,
      deliveryId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      state: "waiting",
      attempts: 0,
      notBeforeMs: 0,
      createdAtMs: home.clock.now(),
      endedAtMs: undefined,
      platformId: undefined,
      platformStatus: undefined,
      platformReason: undefined,
      error: undefined,
    });
    crash();
    expect(read(1)).toEqual(added);
    expect(store.outbox.waiting()).toEqual([
      { n: 1, conversationKey: "room", channel: "chat", notBeforeMs: 0, crashes: 0 },
    ]);
  });

  test("without a thread, data, turn and key it has none of them", async () => {
    await add(delivery("room"));
    expect(read(1)).not.toHaveProperty("replyData");
    expect(read(1)).not.toHaveProperty("approval");
    expect(Object.keys(read(1).conversation)).toEqual(["channel", "id"]);
    expect(store.outbox.read(2)).toBeUndefined();
  });

  test("a key that is there already adds nothing, in one call or over a kill, also when it was sent", async () => {
    const [first, same] = await add(full, { ...full, text: "changed" });
    expect(same).toEqual(first);
    await store.write(() => store.outbox.sent(1, "p", home.clock.now()));
    crash();
    expect(await add(full, delivery("other", { key: "t-1:other" }))).toMatchObject([
      { deliveryId: first!.deliveryId, state: "sent" },
      { n: 2 },
    ]);
  });

  test("is told by its turn, in order", async () => {
    await add(delivery("a", { turnId: "t-1" }), delivery("b", { turnId: "t-2" }), delivery("c", { turnId: "t-1" }));
    expect(store.outbox.ofTurn("t-1").map(({ conversationKey }) => conversationKey)).toEqual(["a", "c"]);
    expect(store.outbox.ofTurn("t-3")).toEqual([]);
  });
});

describe("a delivery", () => {
  beforeEach(async () => void (await add(delivery("a"), delivery("b"))));

  test("that is tried again waits until then, and says why", async () => {
    expect(await store.write(() => store.outbox.retry(1, "DELIVERY_FAILED", 7))).toBe(true);
    await store.write(() => store.outbox.retry(1, "REMOTE_TIMEOUT", 9));
    crash();
    expect(read(1)).toMatchObject({ state: "waiting", attempts: 2, error: "REMOTE_TIMEOUT", notBeforeMs: 9 });
    expect(store.outbox.waiting().map(({ notBeforeMs }) => notBeforeMs)).toEqual([9, 0]);
  });

  test("that is sent stays sent, whatever is noted later", async () => {
    await store.write(() => store.outbox.retry(1, "DELIVERY_FAILED", 7));
    await store.write(() => store.outbox.sent(1, "p-1", 5));
    crash();
    expect(read(1)).toMatchObject({ state: "sent", platformId: "p-1", endedAtMs: 5, attempts: 1, error: undefined });
    const later = await store.write(() => [
      store.outbox.sent(1, "p-2", 6),
      store.outbox.retry(1, "DELIVERY_FAILED", 8),
      store.outbox.dead(1, "DELIVERY_REFUSED", 6),
      store.outbox.drop(1),
      store.outbox.reopen(1),
    ]);
    expect(later).toEqual([false, false, false, false, false]);
    expect(read(1)).toMatchObject({ state: "sent", platformId: "p-1", endedAtMs: 5 });
  });

  test("that was being sent when the process died says how often; one that failed or was called off does not", async () => {
    const waiting = (): [number, number][] => store.outbox.waiting().map(({ n, crashes }) => [n, crashes]);
    await store.write(() => store.outbox.begin(1));
    crash();
    expect([waiting(), read(1).attempts, read(1).error]).toEqual([
      [
        [1, 1],
        [2, 0],
      ],
      1,
      undefined,
    ]);
    await store.write(() => [1, 2].map((n) => store.outbox.begin(n)));
    await store.write(() => store.outbox.retry(1, "REMOTE_TIMEOUT", 9));
    await store.write(() => store.outbox.calledOff(2));
    crash();
    expect([waiting(), read(1).attempts, read(2).attempts]).toEqual([
      [
        [1, 1],
        [2, 0],
      ],
      2,
      0,
    ]);
    expect(await store.write(() => store.outbox.dead(1, "DELIVERY_CRASHED", 5, 0))).toBe(true);
    expect(read(1)).toMatchObject({ state: "dead", error: "DELIVERY_CRASHED", attempts: 2 });
    await store.write(() => store.outbox.reopen(1));
    expect(waiting()).toEqual([
      [1, 0],
      [2, 0],
    ]);
  });

  test("that is dead or dropped can be sent again, under its old id", async () => {
    const { deliveryId } = read(1);
    await store.write(() => store.outbox.dead(1, "DELIVERY_REFUSED", 5));
    await store.write(() => store.outbox.drop(2));
    expect([read(1), read(2)]).toMatchObject([
      { state: "dead", attempts: 1, error: "DELIVERY_REFUSED", endedAtMs: 5 },
      { state: "dropped", attempts: 0, error: undefined, endedAtMs: home.clock.now() },
    ]);
    expect(store.inbox.counts().outbox).toEqual({ waiting: 0, sent: 0, dead: 1, dropped: 1 });
    await store.write(() => [2, 1].map((n) => store.outbox.reopen(n)));
    crash();
    expect(store.outbox.waiting().map(({ n }) => n)).toEqual([1, 2]);
    expect(read(1)).toMatchObject({ state: "waiting", attempts: 0, error: undefined, deliveryId });
  });

  test("is listed by state and channel, newest first", async () => {
    await add(delivery("c", { conversation: { channel: "mail", id: "c" } }));
    await store.write(() => store.outbox.sent(1, undefined, 5));
    await store.write(() => store.outbox.dead(3, "DELIVERY_REFUSED", 5));
    const list = (filter: { state?: string; channel?: string }): number[] =>
      store.outbox.list(filter, 10).map(({ n }) => n);
    expect([list({}), list({ state: "sent" }), list({ state: "dead", channel: "chat" })]).toEqual([[3, 2, 1], [1], []]);
    expect([list({ channel: "chat" }), list({ state: "dead" }), list({ state: "waiting" })]).toEqual([
      [2, 1],
      [3],
      [2],
    ]);
  });

  test("that waits for long is told of, whichever box it is in", async () => {
    await home.clock.advance(1000);
    await arriveAt(store, home.clock, {
      channel: "chat",
      messages: [{ kind: "message", conversationKey: "a", body: null }],
    });
    await home.clock.advance(1000);
    expect(store.inbox.counts().oldestWaitingMs).toBe(2000);
    await store.write(() => [1, 2].map((n) => store.outbox.drop(n)));
    expect(store.inbox.counts().oldestWaitingMs).toBe(1000);
  });
});

describe("what a platform says later", () => {
  type Status = DeliveryUpdate["status"];
  const update = (platformId: string, status: Status, channel = "chat"): Promise<unknown> =>
    arriveAt(store, home.clock, { channel, messages: [], updates: [{ platformId, status }] });
  const sent = (n: number, platformId: string): Promise<boolean> =>
    store.write(() => store.outbox.sent(n, platformId, home.clock.now()));
  beforeEach(async () => void (await add(delivery("a"), delivery("b"))));

  test.each<[Status[], Status]>([
    [["sent", "delivered", "read"], "read"],
    [["delivered", "sent"], "delivered"],
    [["read", "delivered", "sent"], "read"],
    [["sent", "failed", "delivered"], "failed"],
    [["failed", "read"], "read"],
    [["read", "failed"], "read"],
  ])("%j comes to %s, before the receipt is on disk and after it", async (statuses, expected) => {
    await sent(1, "after");
    for (const status of statuses) await update("after", status);
    for (const status of statuses) await update("before", status);
    await sent(2, "before");
    crash();
    expect([read(1).platformStatus, read(2).platformStatus]).toEqual([expected, expected]);
  });

  test("of a failure is why, before the receipt is on disk and after it, cut; until it was read all the same", async () => {
    const fails = (platformId: string, reason: string): Promise<unknown> =>
      arriveAt(store, home.clock, {
        channel: "chat",
        messages: [],
        updates: [{ platformId, status: "failed", reason }],
      });
    await fails("before", "No such number (error 1).");
    await sent(1, "before");
    await sent(2, "after");
    await fails("after", `${"x".repeat(199)}\u{1f600}`);
    crash();
    expect([read(1).platformReason, read(2).platformReason]).toEqual([
      "No such number (error 1).",
      `${"x".repeat(199)}\ufffd`,
    ]);
    await update("before", "read");
    expect(read(1)).toMatchObject({ platformStatus: "read", platformReason: undefined });
  });

  test("is of the message that has this id in this channel", async () => {
    await sent(1, "p");
    await update("p", "read", "mail");
    await update("q", "read");
    expect(read(1).platformStatus).toBeUndefined();
  });

  test("where a platform gives an id twice, it is of the newer message", async () => {
    await sent(1, "p");
    await sent(2, "p");
    await update("p", "delivered");
    expect([read(1).platformStatus, read(2).platformStatus]).toEqual([undefined, "delivered"]);
  });

  test("of messages that nobody here sent takes no room", async () => {
    await update("early", "read");
    for (let n = 0; n < 1000; n += 1) void update(`stranger-${n}`, "read");
    await update("late", "read");
    await sent(1, "early");
    await sent(2, "late");
    expect([read(1).platformStatus, read(2).platformStatus]).toEqual([undefined, "read"]);
  });

  test("is not remembered under an id that no platform has", async () => {
    for (const chars of [512, 513]) await update("x".repeat(chars), "read");
    await sent(1, "x".repeat(512));
    await sent(2, "x".repeat(513));
    expect([read(1).platformStatus, read(2).platformStatus]).toEqual(["read", undefined]);
  });
});
