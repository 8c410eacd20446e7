// A message that is lost, answered twice, or tried for ever because it brings the process down.
import { beforeEach, describe, expect, test } from "vitest";
import type { InboxMessage, Store } from "../src/index.ts";
import { crash, home, reopen, store, storeForEachTest } from "./each-test.ts";
import { arrive, arriveAt, keptOf, message } from "./fixture.ts";

storeForEachTest();

const keysOf = (messages: readonly { conversationKey: string }[]): string[] =>
  messages.map(({ conversationKey }) => conversationKey);
const read = (n: number): InboxMessage => store.inbox.read(n)!;

describe("what is kept", () => {
  test("is there after a kill, in the order of its arrival, each with a turn of its own", async () => {
    await Promise.all([arrive(store, home.clock, message("a"), message("b")), arrive(store, home.clock, message("c"))]);
    crash();
    expect(keysOf(store.inbox.waiting())).toEqual(["a", "b", "c"]);
    expect(store.inbox.waiting()[0]).toEqual({
      n: 1,
      channel: "chat",
      kind: "message",
      conversationKey: "a",
      crashes: 0,
    });
    expect(new Set([1, 2, 3].map((n) => read(n).turnId)).size).toBe(3);
    expect(read(2)).toEqual({
      n: 2,
      turnId: expect.stringMatching(/^t-[0-9a-f-]{36}$/) as string,
      channel: "chat",
      kind: "message",
      conversationKey: "b",
      body: { text: "b" },
      state: "waiting",
      attempts: 0,
      receivedAtMs: home.clock.now(),
      endedAtMs: undefined,
      error: undefined,
    });
    expect(store.inbox.read(4)).toBeUndefined();
  });

  test("keeps its turn over restarts", async () => {
    const [kept] = keptOf(await arrive(store, home.clock, message("a")));
    crash();
    expect(read(kept!.n).turnId).toBe(kept!.turnId);
  });

  test("a body comes back as it was, whatever is in it", async () => {
    const body = { text: "\u0000 \ud800 \u{1f600} 'quoted' \\", deep: [[null, 1e21, -0.5, true]] };
    await arrive(store, home.clock, message("\u0000\n'", undefined, { body }));
    crash();
    expect(read(1)).toMatchObject({ body, conversationKey: "\u0000\n'" });
  });

  test("a reaction is done at once, a notice waits", async () => {
    await arrive(store, home.clock, message("a", "1", { kind: "reaction" }), message("b", "2", { kind: "notice" }));
    expect([read(1).state, read(1).endedAtMs]).toEqual(["done", home.clock.now()]);
    expect(keysOf(store.inbox.waiting())).toEqual(["b"]);
  });

  test("of a transaction that fails nothing is kept, and nothing is remembered", async () => {
    const failed = store.write(() => {
      store.inbox.arrive({ channel: "chat", once: "o", messages: [message("a", "1")] }, home.clock.now());
      throw new Error("no");
    });
    const neighbour = arrive(store, home.clock, message("b", "2"));
    await expect(failed).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(keptOf(await neighbour)).toHaveLength(1);
    const again = await arriveAt(store, home.clock, { channel: "chat", once: "o", messages: [message("a", "1")] });
    expect(keptOf(again)).toHaveLength(1);
    expect(keysOf(store.inbox.waiting())).toEqual(["b", "a"]);
    expect(store.inbox.counts().inbox).toMatchObject({ waiting: 2, done: 0 });
  });
});

describe("attempts", () => {
  beforeEach(async () => void (await arrive(store, home.clock, message("a"), message("b"))));
  const begin = (n: number): Promise<void> => store.write(() => store.inbox.begin(n));

  test("one that failed leaves the message waiting, and says why", async () => {
    await begin(1);
    expect(await store.write(() => store.inbox.failed(1, "MODEL_UNREACHABLE"))).toBe(true);
    crash();
    expect(read(1)).toMatchObject({ state: "waiting", attempts: 1, error: "MODEL_UNREACHABLE" });
    await store.write(() => store.inbox.end(1, "done"));
    expect(read(1)).toMatchObject({ state: "done", attempts: 1, error: undefined, endedAtMs: home.clock.now() });
  });

  test("one that the process does not survive counts, and no other", async () => {
    await begin(1);
    crash();
    crash();
    expect([read(1).attempts, read(2).attempts]).toEqual([1, 0]);
    await begin(1);
    await store.write(() => store.inbox.calledOff(1));
    crash();
    expect(read(1).attempts).toBe(1);
  });

  test("the fifth that the process does not survive is the last; its sender is to be told, over restarts", async () => {
    await store.write(() => store.inbox.failed(1, "MODEL_REFUSED"));
    for (let time = 0; time < 4; time += 1) {
      await begin(1);
      crash();
    }
    expect(keysOf(store.inbox.waiting())).toEqual(["a", "b"]);
    await begin(1);
    crash();
    expect(keysOf(store.inbox.waiting())).toEqual(["b"]);
    expect(read(1)).toMatchObject({
      state: "failed",
      attempts: 6,
      error: "TURN_CRASHED",
      endedAtMs: home.clock.now(),
    });
    reopen();
    expect(store.inbox.lost()).toEqual([read(1)]);
    await store.write(() => store.inbox.notified(1));
    crash();
    expect(store.inbox.lost()).toEqual([]);
    expect(store.inbox.counts().inbox).toEqual({ waiting: 1, done: 0, failed: 1, dropped: 0 });
  });

  test("a lost one that is replayed has five attempts again, and nobody is told that it was lost", async () => {
    for (let time = 0; time < 5; time += 1) {
      await begin(1);
      crash();
    }
    expect(await store.write(() => store.inbox.reopen(1))).toBe(true);
    expect(store.inbox.lost()).toEqual([]);
    await begin(1);
    crash();
    expect(read(1)).toMatchObject({ state: "waiting", attempts: 1, error: undefined });
  });
});

describe("ends", () => {
  beforeEach(async () => void (await arrive(store, home.clock, message("a"), message("b"), message("c"))));

  test("the first one holds, and who comes later is told so", async () => {
    const [first, second] = await Promise.all([
      store.write(() => store.inbox.end(1, "dropped")),
      store.write(() => store.inbox.end(1, "done")),
    ]);
    expect([first, second, read(1).state]).toEqual([true, false, "dropped"]);
    expect(await store.write(() => store.inbox.failed(1, "TURN_FAILED"))).toBe(false);
    expect(await store.write(() => store.inbox.end(99, "done"))).toBe(false);
  });

  test("failed and dropped ones can wait again, in their old place; a done one can't", async () => {
    await store.write(() => store.inbox.end(1, "failed", "TURN_TIMEOUT"));
    await store.write(() => store.inbox.end(2, "dropped"));
    await store.write(() => store.inbox.end(3, "done"));
    expect([read(1), read(2)]).toMatchObject([
      { state: "failed", attempts: 1, error: "TURN_TIMEOUT" },
      { state: "dropped", attempts: 0, error: undefined },
    ]);
    const again = await Promise.all([3, 2, 1, 99].map((n) => store.write(() => store.inbox.reopen(n))));
    expect(again).toEqual([false, true, true, false]);
    expect(store.inbox.waiting().map(({ n }) => n)).toEqual([1, 2]);
    expect(read(1)).toMatchObject({ state: "waiting", attempts: 0, error: undefined, endedAtMs: undefined });
  });

  test("one that is undone with its transaction did not happen", async () => {
    const undone = store.write(() => {
      store.inbox.end(1, "done");
      throw new Error("the turn was not kept");
    });
    await expect(undone).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(read(1).state).toBe("waiting");
    expect(store.inbox.counts().inbox).toMatchObject({ waiting: 3, done: 0 });
  });
});

describe("lists", () => {
  beforeEach(async () => {
    for (const channel of ["chat", "mail", "chat", "mail", "chat", "mail"]) {
      await arriveAt(store, home.clock, { channel, messages: [message(channel)] });
    }
    await store.write(() => {
      store.inbox.end(1, "done");
      store.inbox.end(2, "done");
      store.inbox.end(3, "failed", "TURN_FAILED");
      store.inbox.end(4, "dropped");
    });
  });
  const list = (filter: Parameters<Store["inbox"]["list"]>[0], limit = 10): number[] =>
    store.inbox.list(filter, limit).map(({ n }) => n);

  test.each([
    [{}, [6, 5, 4, 3, 2, 1]],
    [{ before: 4 }, [3, 2, 1]],
    [{ channel: "chat" }, [5, 3, 1]],
    [{ channel: "mail", before: 6 }, [4, 2]],
    [{ channel: "none" }, []],
    [{ state: "waiting" }, [6, 5]],
    [{ state: "waiting", channel: "mail" }, [6]],
    [{ state: "done" }, [2, 1]],
    [{ state: "done", channel: "chat" }, [1]],
    [{ state: "failed" }, [3]],
    [{ state: "failed", channel: "mail" }, []],
    [{ state: "dropped", before: 4 }, []],
    [{ state: "' OR 1 --" }, []],
  ])("of %j", (filter, expected) => {
    expect(list(filter)).toEqual(expected);
  });

  test("hold at most so many, the newest", () => {
    expect([list({}, 2), list({ channel: "mail" }, 2), list({ state: "done" }, 1)]).toEqual([[6, 5], [6, 4], [2]]);
  });

  test("counts tell how many there are, and for how long the oldest waits", async () => {
    await home.clock.advance(5000);
    expect(store.inbox.counts()).toEqual({
      inbox: { waiting: 2, done: 2, failed: 1, dropped: 1 },
      outbox: { waiting: 0, sent: 0, dead: 0, dropped: 0 },
      locked: 0,
      oldestWaitingMs: 5000,
      oldestMs: { inbox: 5000, outbox: 0 },
    });
    await store.write(() => [5, 6].map((n) => store.inbox.end(n, "done")));
    crash();
    expect(store.inbox.counts()).toMatchObject({ inbox: { waiting: 0, done: 4 }, oldestWaitingMs: undefined });
  });

  test("a clock that is set back makes no negative age", () => {
    home.clock.setWallClock(0);
    expect(store.inbox.counts().oldestWaitingMs).toBe(0);
  });
});
