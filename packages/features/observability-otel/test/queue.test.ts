// A collector that fails costs bounded memory and no time of anybody's, and it is found again by itself.
import { describe, expect, test } from "vitest";
import { BATCH, QUEUE } from "../src/export/queue.ts";
import { failed, fixture, REFUSED, TAKEN, warnings } from "./queue-fixture.ts";

describe("batches", () => {
  test("a span waits a second for others", async () => {
    const { queue, clock, batches, add } = fixture();
    add(2);
    await clock.advance(999);
    add(1);
    expect(batches).toEqual([]);
    await clock.advance(1);
    expect(batches).toEqual([3]);
    await queue.close();
  });

  test("a full batch goes at once, but not while the span is ended", async () => {
    const { clock, batches, add } = fixture();
    add(BATCH.spans - 1);
    await clock.advance(500);
    expect(batches).toEqual([]);
    add(1);
    expect(batches).toEqual([]);
    await clock.advance(0);
    expect(batches).toEqual([BATCH.spans]);
  });

  test("one after the other, each no longer than it may be", async () => {
    const at = fixture();
    let let_go = (): void => {};
    at.answer = () => new Promise((resolve) => (let_go = () => resolve(TAKEN)));
    at.add(BATCH.spans * 2 + 1);
    await at.clock.advance(10_000);
    expect(at.batches).toEqual([BATCH.spans]);
    at.answer = () => TAKEN;
    let_go();
    await at.clock.advance(1_000);
    expect(at.batches).toEqual([BATCH.spans, BATCH.spans, 1]);
  });

  test("long texts make short batches, and one that is too long goes alone", async () => {
    const { queue, batches, add } = fixture();
    add(3, "x".repeat(BATCH.characters / 2 - 300));
    add(1, "x".repeat(BATCH.characters * 2));
    await queue.flush();
    expect(batches).toEqual([2, 1, 1]);
  });
});

describe("bounds", () => {
  test("spans beyond the queue are dropped and counted", async () => {
    const at = fixture();
    at.answer = () => failed();
    at.add(QUEUE.spans + 10);
    expect(warnings(at.log)).toMatchObject([{ fields: { dropped: 1 } }]);
    await at.clock.advance(60_000);
    at.answer = () => TAKEN;
    await at.clock.advance(120_000);
    const dropped = warnings(at.log).reduce((sum, { fields }) => sum + Number(fields["dropped"]), 0);
    // What was given up after five tries is dropped too.
    const taken = QUEUE.spans + 10 - dropped;
    expect(dropped).toBeGreaterThanOrEqual(10);
    expect(taken).toBeGreaterThanOrEqual(QUEUE.spans - BATCH.spans);
  });

  test("so are those whose texts are beyond it", async () => {
    const { queue, batches, log, add } = fixture();
    const text = "x".repeat(1_000_000);
    add(50, text);
    await queue.flush();
    expect(batches.reduce((sum, count) => sum + count)).toBe(Math.floor(QUEUE.characters / (text.length + 256)));
    await queue.close();
    const dropped = warnings(log).reduce((sum, { fields }) => sum + Number(fields["dropped"]), 0);
    expect(dropped).toBe(50 - Math.floor(QUEUE.characters / (text.length + 256)));
  });

  test("there is room again for each that was sent", async () => {
    const { queue, log, add } = fixture();
    for (let round = 0; round < 5; round += 1) {
      add(QUEUE.spans, "x".repeat(5_000));
      await queue.flush();
    }
    expect(log.lines).toEqual([]);
  });
});

describe("a collector that fails", () => {
  test("is left alone for longer and longer, a minute at most, and found again", async () => {
    const at = fixture();
    const sentAtMs: number[] = [];
    at.answer = () => {
      sentAtMs.push(at.clock.monotonic());
      return failed();
    };
    for (let minute = 0; minute < 10; minute += 1) {
      at.add(1);
      await at.clock.advance(60_000);
    }
    const pauses = sentAtMs.slice(1).map((at, index) => at - sentAtMs[index]!);
    expect(pauses.slice(0, 6)).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    expect(Math.max(...pauses)).toBe(60_000);
    at.answer = () => TAKEN;
    at.add(1);
    await at.clock.advance(60_000);
    expect(at.log.lines.at(-1)).toMatchObject({ level: "info", message: "the trace collector takes spans again" });
    const before = at.batches.length;
    at.add(1);
    await at.clock.advance(1_000);
    expect(at.batches).toHaveLength(before + 1);
  });

  test("is asked again no sooner than it asks for, however full the queue is", async () => {
    const at = fixture();
    at.answer = () => failed(600_000);
    at.add(BATCH.spans);
    await at.clock.advance(0);
    at.add(BATCH.spans);
    // A tenth of what it asks for is jitter.
    await at.clock.advance(659_999);
    expect(at.batches).toHaveLength(1);
    at.answer = () => TAKEN;
    await at.clock.advance(1);
    expect(at.batches).toHaveLength(3);
  });

  test("gets a batch that it could not take once more, first of all", async () => {
    const at = fixture();
    at.answer = () => failed();
    at.add(3);
    await at.clock.advance(1_000);
    at.answer = () => TAKEN;
    at.add(1);
    await at.clock.advance(2_000);
    expect(at.batches).toEqual([3, 4]);
    expect(warnings(at.log)).toMatchObject([{ fields: { reason: "ECONNREFUSED", dropped: 0 } }]);
  });

  test("does not get the same batch for ever", async () => {
    const at = fixture();
    at.answer = () => failed();
    at.add(BATCH.spans + 1);
    // Five tries: with the first, 1 + 2 + 4 + 8 + 16 seconds.
    await at.clock.advance(31_000);
    const before = at.batches.length;
    at.answer = () => TAKEN;
    await at.clock.advance(60_000);
    expect([before, ...at.batches.slice(before)]).toEqual([5, 1]);
  });

  test("does not get what it refused again", async () => {
    const at = fixture();
    at.answer = () => REFUSED;
    at.add(3);
    await at.clock.advance(1_000);
    expect(warnings(at.log)).toMatchObject([{ fields: { reason: "status 401", dropped: 3 } }]);
    at.answer = () => TAKEN;
    at.add(1);
    await at.clock.advance(2_000);
    expect(at.batches).toEqual([3, 1]);
  });
});
