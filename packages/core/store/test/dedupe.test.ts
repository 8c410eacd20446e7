// A delivery that a platform repeats, or an attacker replays, is answered again; or a new one is taken for an old one.
import { DEDUPE_MS } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { crash, home, reopen, store, storeForEachTest } from "./each-test.ts";
import { arrive, arriveAt, keptOf, message } from "./fixture.ts";

storeForEachTest();

describe("what was seen before", () => {
  test("is a duplicate: in the same delivery, in the same commit, later, and after a kill", async () => {
    const [first, second] = await Promise.all([
      arrive(store, home.clock, message("a", "1"), message("a", "1"), message("b", "1")),
      arrive(store, home.clock, message("a", "1"), message("a", "2")),
    ]);
    expect(first).toMatchObject({ messages: [{ n: 1 }, "duplicate", "duplicate"] });
    expect(second).toMatchObject({ messages: ["duplicate", { n: 2 }] });
    crash();
    expect(await arrive(store, home.clock, message("a", "2"))).toEqual({ state: "kept", messages: ["duplicate"] });
    await home.clock.advance(DEDUPE_MS - 1);
    expect(await arrive(store, home.clock, message("a", "2"))).toEqual({ state: "kept", messages: ["duplicate"] });
  });

  test("is told by channel: the same id of another one is another message", async () => {
    await arrive(store, home.clock, message("a", "1"));
    expect(keptOf(await arriveAt(store, home.clock, { channel: "mail", messages: [message("a", "1")] }))).toHaveLength(
      1,
    );
  });

  test("without an id every delivery is a message", async () => {
    await arrive(store, home.clock, message("a"));
    expect(keptOf(await arrive(store, home.clock, message("a")))).toHaveLength(1);
  });

  test("is new again once its time is over, and then remembered as long again", async () => {
    const short = message("a", "1", { dedupe: { key: "1", forMs: 600_000 } });
    await arrive(store, home.clock, short);
    await home.clock.advance(599_999);
    expect(keptOf(await arrive(store, home.clock, short))).toHaveLength(0);
    await home.clock.advance(1);
    expect(keptOf(await arrive(store, home.clock, short))).toHaveLength(1);
    reopen();
    expect(keptOf(await arrive(store, home.clock, short))).toHaveLength(0);
  });

  test("a value that may be used once is used up by what it came with, also when that was a duplicate", async () => {
    await arrive(store, home.clock, message("a", "1"));
    const arrival = { channel: "chat", once: "random", messages: [message("a", "1")] };
    expect(await arriveAt(store, home.clock, arrival)).toEqual({ state: "kept", messages: ["duplicate"] });
    crash();
    const replay = {
      ...arrival,
      messages: [message("a", "2")],
      updates: [{ platformId: "p", status: "read" as const }],
    };
    expect(await arriveAt(store, home.clock, replay)).toEqual({ state: "replayed" });
    expect(keptOf(await arriveAt(store, home.clock, { ...replay, channel: "other" }))).toHaveLength(1);
    await home.clock.advance(DEDUPE_MS);
    expect(keptOf(await arriveAt(store, home.clock, replay))).toHaveLength(1);
  });

  test("a once and an id of the same text are not each other", async () => {
    await arriveAt(store, home.clock, { channel: "chat", once: "x", messages: [] });
    expect(keptOf(await arrive(store, home.clock, message("a", "x")))).toHaveLength(1);
  });
});

describe("numbered messages", () => {
  const numbered = (sequence: number, conversationKey = "room", key = `${conversationKey}-${sequence}`) =>
    message(conversationKey, key, { dedupe: { key, forMs: DEDUPE_MS, sequence } });
  const isKept = async (...messages: Parameters<typeof numbered>): Promise<boolean> =>
    keptOf(await arrive(store, home.clock, numbered(...messages))).length === 1;
  const prune = (): Promise<unknown> =>
    store.prune({ sessionDays: 0, maxSessions: 0, toolCallDays: 30, messageDays: 30 }, home.clock.now());

  test("may come out of order, as long as their ids are remembered", async () => {
    for (const sequence of [7, 3, 9, 5]) expect(await isKept(sequence)).toBe(true);
    expect(await isKept(5)).toBe(false);
  });

  test("do not get in again when their ids are forgotten, nor does what is older", async () => {
    await isKept(5);
    await isKept(3);
    await home.clock.advance(DEDUPE_MS / 2);
    await isKept(8);
    await home.clock.advance(DEDUPE_MS / 2);
    // Over, and not forgotten yet: a replay does not slip through in between.
    expect([await isKept(5), await isKept(3)]).toEqual([false, false]);
    expect(await prune()).toMatchObject({ seenIds: 2 });
    crash();
    expect([await isKept(5), await isKept(4), await isKept(3)]).toEqual([false, false, false]);
    expect([await isKept(6), await isKept(8), await isKept(9)]).toEqual([true, false, true]);
  });

  test("are numbered by conversation and channel", async () => {
    await isKept(5);
    await home.clock.advance(DEDUPE_MS);
    await prune();
    expect([await isKept(4, "other"), await isKept(4)]).toEqual([true, false]);
    const elsewhere = await arriveAt(store, home.clock, { channel: "other", messages: [numbered(4)] });
    expect(keptOf(elsewhere)).toHaveLength(1);
  });

  test("a floor is never lowered", async () => {
    await isKept(9);
    await isKept(4);
    await home.clock.advance(DEDUPE_MS);
    await prune();
    expect(await isKept(8)).toBe(false);
  });
});
