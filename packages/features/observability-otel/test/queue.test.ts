// A collector that fails costs bounded memory, no time of anybody's, and a line a minute; and it is found again by itself.
import { AsyncLocalStorage } from "node:async_hooks";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Clock } from "@svc/contract";
import { captureLogger, fakeClock, settled } from "@svc/testkit";
import { describe, expect, test, vi } from "vitest";
import type { Outcome } from "../src/export/outcome.ts";
import { BATCH, QUEUE, SpanQueue } from "../src/export/queue.ts";

const TAKEN: Outcome = { kind: "taken", rejected: 0 };
const REFUSED: Outcome = { kind: "refused", reason: "status 401" };
const failed = (retryAfterMs?: number): Outcome => ({ kind: "failed", reason: "ECONNREFUSED", retryAfterMs });

function house() {
  const clock = fakeClock();
  const log = captureLogger();
  const batches: number[] = [];
  let answer: () => Outcome | Promise<Outcome> = () => TAKEN;
  let isClosed = false;
  const collector = {
    send: async (spans: readonly ReadableSpan[]) => {
      batches.push(spans.length);
      return answer();
    },
    close: () => {
      isClosed = true;
    },
  };
  // As the runtime's timers do: what was the scope when they were set is it when they fire.
  const after: Clock["after"] = (delayMs, run) => clock.after(delayMs, AsyncLocalStorage.bind(run));
  const queue = new SpanQueue({ collector, log, clock: { ...clock, after } });
  return {
    clock,
    log,
    queue,
    batches,
    get isClosed() {
      return isClosed;
    },
    set answer(next: () => Outcome | Promise<Outcome>) {
      answer = next;
    },
    add(count: number, text = "") {
      for (let index = 0; index < count; index += 1) queue.add(spanOf(text));
    },
  };
}

/** What the queue looks at. */
const spanOf = (text: string): ReadableSpan => ({ attributes: { text, number: 7 } }) as unknown as ReadableSpan;

const warnings = (log: ReturnType<typeof captureLogger>) => log.lines.filter(({ level }) => level === "warn");

describe("batches", () => {
  test("a span waits a second for others", async () => {
    const { queue, clock, batches, add } = house();
    add(2);
    await clock.advance(999);
    add(1);
    expect(batches).toEqual([]);
    await clock.advance(1);
    expect(batches).toEqual([3]);
    await queue.close();
  });

  test("a full batch goes at once, but not while the span is ended", async () => {
    const { clock, batches, add } = house();
    add(BATCH.spans - 1);
    await clock.advance(500);
    expect(batches).toEqual([]);
    add(1);
    expect(batches).toEqual([]);
    await clock.advance(0);
    expect(batches).toEqual([BATCH.spans]);
  });

  test("one after the other, each no longer than it may be", async () => {
    const at = house();
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
    const { queue, batches, add } = house();
    add(3, "x".repeat(BATCH.characters / 2 - 300));
    add(1, "x".repeat(BATCH.characters * 2));
    await queue.flush();
    expect(batches).toEqual([2, 1, 1]);
  });
});

describe("bounds", () => {
  test("spans beyond the queue are dropped and counted", async () => {
    const at = house();
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
    const { queue, batches, log, add } = house();
    const text = "x".repeat(1_000_000);
    add(50, text);
    await queue.flush();
    expect(batches.reduce((sum, count) => sum + count)).toBe(Math.floor(QUEUE.characters / (text.length + 256)));
    await queue.close();
    const dropped = warnings(log).reduce((sum, { fields }) => sum + Number(fields["dropped"]), 0);
    expect(dropped).toBe(50 - Math.floor(QUEUE.characters / (text.length + 256)));
  });

  test("there is room again for each that was sent", async () => {
    const { queue, log, add } = house();
    for (let round = 0; round < 5; round += 1) {
      add(QUEUE.spans, "x".repeat(5_000));
      await queue.flush();
    }
    expect(log.lines).toEqual([]);
  });
});

describe("a collector that fails", () => {
  test("is left alone for longer and longer, a minute at most, and found again", async () => {
    const at = house();
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
    const at = house();
    at.answer = () => failed(600_000);
    at.add(BATCH.spans);
    await at.clock.advance(0);
    at.add(BATCH.spans);
    await at.clock.advance(599_999);
    expect(at.batches).toHaveLength(1);
    at.answer = () => TAKEN;
    await at.clock.advance(1);
    expect(at.batches).toHaveLength(3);
  });

  test("gets a batch that it could not take once more, first of all", async () => {
    const at = house();
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
    const at = house();
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
    const at = house();
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

describe("the log", () => {
  test("has a line a minute at most, and every dropped span in one of them", async () => {
    const at = house();
    at.answer = () => REFUSED;
    let added = 0;
    for (let second = 0; second < 600; second += 1) {
      at.add(7);
      added += 7;
      await at.clock.advance(1_000);
    }
    await at.queue.close();
    const lines = warnings(at.log);
    expect(lines.length).toBeLessThanOrEqual(12);
    expect(lines.reduce((sum, { fields }) => sum + Number(fields["dropped"]), 0)).toBe(added);
  });

  test("says no more of what is over, where nothing was dropped", async () => {
    const at = house();
    at.answer = () => failed();
    at.add(1);
    await at.clock.advance(5_000);
    at.answer = () => TAKEN;
    await at.clock.advance(120_000);
    expect(at.log.lines.map(({ level }) => level)).toEqual(["warn", "info"]);
    expect(at.clock.waiting).toBe(0);
  });

  test("says how many a collector rejects that takes the others", async () => {
    const at = house();
    at.answer = () => ({ kind: "taken", rejected: 2 });
    at.add(3);
    await at.clock.advance(1_000);
    expect(warnings(at.log)).toMatchObject([{ fields: { dropped: 2 } }]);
    at.add(1);
    await at.clock.advance(1_000);
    expect(at.batches).toEqual([3, 1]);
  });

  test("does not say it of the turn whose span came last", async () => {
    const scope = new AsyncLocalStorage<string>();
    const at = house();
    const scopes: (string | undefined)[] = [];
    at.answer = () => {
      scopes.push(scope.getStore());
      return REFUSED;
    };
    scope.run("a turn", () => at.add(BATCH.spans));
    await at.clock.advance(0);
    const said = vi.spyOn(at.log, "warn").mockImplementation(() => void scopes.push(scope.getStore()));
    await at.clock.advance(60_000);
    scope.run("a turn", () => at.add(QUEUE.spans + 1));
    expect(said).toHaveBeenCalled();
    expect(scopes).toEqual([undefined, undefined]);
  });

  test("says nothing of a collector that takes everything", async () => {
    const { queue, log, add } = house();
    add(1_000);
    await queue.close();
    expect(log.lines).toEqual([]);
  });
});

describe("shutdown", () => {
  test("sends what is queued, closes, and takes nothing more", async () => {
    const at = house();
    at.add(BATCH.spans + 5);
    await at.queue.close();
    expect(at.batches).toEqual([BATCH.spans, 5]);
    expect(at.isClosed).toBe(true);
    at.add(1);
    await at.clock.advance(10_000);
    expect(at.batches).toHaveLength(2);
    expect(at.clock.waiting).toBe(0);
  });

  test.each([
    ["5 s at most", false, 5_000],
    ["a second where the collector failed before", true, 1_000],
  ])("waits %s", async (_, hasFailed, limitMs) => {
    const at = house();
    at.add(3);
    if (hasFailed) {
      at.answer = () => failed();
      await at.clock.advance(1_000);
      await at.clock.advance(1_999);
    }
    let fail = (): void => {};
    at.answer = () => new Promise((resolve) => (fail = () => resolve(failed())));
    if (hasFailed) await at.clock.advance(1);
    let isDown = false;
    void at.queue.close().then(() => (isDown = true));
    await at.clock.advance(limitMs - 1);
    expect(isDown).toBe(false);
    await at.clock.advance(1);
    expect(isDown).toBe(true);
    expect(at.isClosed).toBe(true);
    expect(warnings(at.log).at(-1)).toMatchObject({ fields: { reason: "the service stops" } });
    const said = at.log.lines.length;
    fail();
    await settled();
    expect(at.log.lines).toHaveLength(said);
    expect(at.clock.waiting).toBe(0);
  });

  test("does not ask a collector that wants to be left alone", async () => {
    const at = house();
    at.answer = () => failed(600_000);
    at.add(3);
    await at.clock.advance(1_000);
    await at.queue.close();
    expect(at.batches).toHaveLength(1);
  });

  test("is one, however often it is called", async () => {
    const at = house();
    at.add(1);
    await Promise.all([at.queue.close(), at.queue.close()]);
    await settled();
    expect(at.batches).toEqual([1]);
  });
});
