// Messages of one conversation answered out of order, one busy conversation starving the others, a permit lost for
// good when a caller that waited gave up.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Permit, TurnQueue } from "../src/turn/active-turns.ts";

/** What happens to a job of a conversation, in ticks of the microtask queue. */
const job = fc.record({
  conversation: fc.constantFrom("a", "b", "c", "d"),
  steps: fc.nat(4),
  fails: fc.boolean(),
  isAlone: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  /** Releases its permit for so many ticks. */
  releases: fc.option(fc.nat(6), { nil: undefined }),
  /** Releases its permit for good, and ends so many ticks later. */
  stores: fc.option(fc.nat(6), { nil: undefined }),
  /** Given up after so many ticks, if it still waits then. */
  patience: fc.option(fc.nat(12), { nil: undefined }),
});

const ticks = async (count: number): Promise<void> => {
  for (let tick = 0; tick < count; tick += 1) await Promise.resolve();
};

describe("the turn queue", () => {
  test("any arrivals and departures: one at a time per conversation, in order, within the limit, none forgotten", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(job, { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.record({ tick: fc.nat(12), limit: fc.integer({ min: 1, max: 5 }) }), { maxLength: 4 }),
        async (jobs, limit, resizes) => {
          const queue = new TurnQueue(limit);
          const running = new Set<string>();
          const order: Record<string, number[]> = {};
          let most = limit;
          for (const { tick, limit: next } of resizes) {
            most = Math.max(most, next);
            void ticks(tick).then(() => queue.resize(next));
          }
          let permits = 0;
          const results = await Promise.allSettled(
            jobs.map(({ conversation, steps, fails, isAlone, releases, stores, patience }, index) => {
              const leave = new AbortController();
              const goOn = (): void => {
                permits += isAlone ? 0 : 1;
                expect(permits).toBeLessThanOrEqual(most);
              };
              const work = async (permit?: Permit): Promise<number> => {
                expect(running.has(conversation)).toBe(false);
                running.add(conversation);
                goOn();
                if (permit && releases !== undefined) {
                  permits -= 1;
                  try {
                    await permit.whileReleased(() => ticks(releases), leave.signal);
                  } catch (error) {
                    running.delete(conversation);
                    (order[conversation] ??= []).push(index);
                    throw error;
                  }
                  goOn();
                }
                await ticks(steps);
                const storing = permit && stores;
                if (storing !== undefined) {
                  permits -= 1;
                  permit!.release();
                  await ticks(storing);
                }
                (order[conversation] ??= []).push(index);
                running.delete(conversation);
                permits -= isAlone || storing !== undefined ? 0 : 1;
                if (fails) throw new Error("job failed");
                return index;
              };
              if (isAlone) return queue.alone(conversation, () => work());
              if (patience !== undefined) void ticks(patience).then(() => leave.abort(new Error("left")));
              return queue.run(conversation, work, leave);
            }),
          );
          for (const seen of Object.values(order)) expect(seen).toEqual(seen.toSorted((a, b) => a - b));
          const ran = new Set(Object.values(order).flat());
          for (const [index, result] of results.entries()) {
            const reason = result.status === "rejected" ? String(result.reason) : "";
            const left = jobs[index]!.patience !== undefined && reason === "Error: left";
            const mayHaveRun = left && jobs[index]!.releases !== undefined;
            expect(mayHaveRun || ran.has(index) === !left).toBe(true);
            expect(left || reason === (jobs[index]!.fails ? "Error: job failed" : "")).toBe(true);
          }
          expect([queue.running, queue.waiting]).toEqual([0, 0]);
          expect(await queue.run("a", async () => "free")).toBe("free");
        },
      ),
    );
  });

  test("a busy conversation does not starve the others", async () => {
    const queue = new TurnQueue(1);
    const order: string[] = [];
    const add = (name: string) => queue.run(name[0]!, async () => void order.push(name));
    await Promise.all([add("a1"), add("a2"), add("a3"), add("b1")]);
    expect(order).toEqual(["a1", "b1", "a2", "a3"]);
  });

  test("more permits are used at once; fewer let what runs end first", async () => {
    const queue = new TurnQueue(1);
    const ends = new Map<string, () => void>();
    const add = (name: string) => queue.run(name, () => new Promise<void>((end) => ends.set(name, end)));
    const all = ["a", "b", "c", "d"].map(add);
    expect(ends.size).toBe(1);
    queue.resize(3);
    await ticks(3);
    expect([...ends.keys()]).toEqual(["a", "b", "c"]);
    queue.resize(1);
    for (const name of ["a", "b"]) {
      ends.get(name)!();
      await ticks(9);
    }
    expect([queue.running, queue.waiting]).toEqual([1, 1]);
    ends.get("c")!();
    await ticks(9);
    ends.get("d")!();
    await Promise.all(all);
  });

  test("those that only wait for the disk hold up no others", async () => {
    const queue = new TurnQueue(1);
    const stored: (() => void)[] = [];
    const add = (name: string) =>
      queue.run(name, async (permit) => {
        permit.release();
        await new Promise<void>((resolve) => stored.push(resolve));
      });
    const all = ["a", "b", "a", "c"].map(add);
    await ticks(9);
    // The second job of a conversation waits for the first, whatever that waits for.
    expect([stored.length, queue.running, queue.waiting]).toEqual([3, 0, 1]);
    while (stored.length > 0) {
      for (const resolve of stored.splice(0)) resolve();
      await ticks(9);
    }
    await Promise.all(all);
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  test("a job without a permit waits for its conversation and not for a permit", async () => {
    const queue = new TurnQueue(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const stranger = queue.run("b", () => promise);
    expect(await queue.alone("a", async () => "done")).toBe("done");
    resolve();
    await stranger;
  });

  test("a job without a permit begins when the one before it gives up its wait for a permit", async () => {
    const queue = new TurnQueue(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const other = queue.run("b", () => promise);
    const leave = new AbortController();
    const waiting = queue.run("a", async () => "ran", leave);
    const alone = queue.alone("a", async () => "done");
    leave.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    expect(await alone).toBe("done");
    resolve();
    await other;
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
    expect(await queue.run("a", async () => "again")).toBe("again");
  });
});
