// What the log says of a collector that fails, a line a minute at most; and how the queue ends.
import { AsyncLocalStorage } from "node:async_hooks";
import { settled } from "@svc/testkit/fake-clock";
import { describe, expect, test, vi } from "vitest";
import { BATCH, QUEUE } from "../src/export/queue.ts";
import { failed, fixture, REFUSED, TAKEN, warnings } from "./queue-fixture.ts";

describe("the log", () => {
  test("has a line a minute at most, and every dropped span in one of them", async () => {
    const at = fixture();
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
    const at = fixture();
    at.answer = () => failed();
    at.add(1);
    await at.clock.advance(5_000);
    at.answer = () => TAKEN;
    await at.clock.advance(120_000);
    expect(at.log.lines.map(({ level }) => level)).toEqual(["warn", "info"]);
    expect(at.clock.waiting).toBe(0);
  });

  test("says how many a collector rejects that takes the others", async () => {
    const at = fixture();
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
    const at = fixture();
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
    const { queue, log, add } = fixture();
    add(1_000);
    await queue.close();
    expect(log.lines).toEqual([]);
  });
});

describe("shutdown", () => {
  test("sends what is queued, closes, and takes nothing more", async () => {
    const at = fixture();
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
    const at = fixture();
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
    const at = fixture();
    at.answer = () => failed(600_000);
    at.add(3);
    await at.clock.advance(1_000);
    await at.queue.close();
    expect(at.batches).toHaveLength(1);
  });

  test("is one, however often it is called", async () => {
    const at = fixture();
    at.add(1);
    await Promise.all([at.queue.close(), at.queue.close()]);
    await settled();
    expect(at.batches).toEqual([1]);
  });
});
