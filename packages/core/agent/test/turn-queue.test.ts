// Messages of one conversation answered out of order, one busy conversation starving the others, a place lost for good
// when somebody who waited went away.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Permit, TurnQueue } from "../src/turn/turn-queue.ts";

/** What happens to a lane's job, in ticks of the microtask queue. */
const job = fc.record({
  lane: fc.constantFrom("a", "b", "c", "d"),
  steps: fc.nat(4),
  fails: fc.boolean(),
  isAlone: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  /** Lends its place for so many ticks. */
  lends: fc.option(fc.nat(6), { nil: undefined }),
  /** Gives its place up, and ends so many ticks later. */
  stores: fc.option(fc.nat(6), { nil: undefined }),
  /** Given up after so many ticks, if it still waits then. */
  patience: fc.option(fc.nat(12), { nil: undefined }),
});

const ticks = async (count: number): Promise<void> => {
  for (let tick = 0; tick < count; tick += 1) await Promise.resolve();
};

describe("the turn queue", () => {
  test("any arrivals and departures: one at a time per lane, in order, never more than the limit, nobody forgotten", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(job, { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.record({ tick: fc.nat(12), limit: fc.integer({ min: 1, max: 5 }) }), { maxLength: 4 }),
        async (jobs, limit, resizes) => {
          const lanes = new TurnQueue(limit);
          const running = new Set<string>();
          const order: Record<string, number[]> = {};
          let most = limit;
          for (const { tick, limit: next } of resizes) {
            most = Math.max(most, next);
            void ticks(tick).then(() => lanes.resize(next));
          }
          let places = 0;
          const results = await Promise.allSettled(
            jobs.map(({ lane, steps, fails, isAlone, lends, stores, patience }, index) => {
              const leave = new AbortController();
              const goOn = (): void => {
                places += isAlone ? 0 : 1;
                expect(places).toBeLessThanOrEqual(most);
              };
              const work = async (place?: Permit): Promise<number> => {
                expect(running.has(lane)).toBe(false);
                running.add(lane);
                goOn();
                if (place && lends !== undefined) {
                  places -= 1;
                  try {
                    await place.whileReleased(() => ticks(lends), leave.signal);
                  } catch (error) {
                    running.delete(lane);
                    (order[lane] ??= []).push(index);
                    throw error;
                  }
                  goOn();
                }
                await ticks(steps);
                const storing = place && stores;
                if (storing !== undefined) {
                  places -= 1;
                  place!.release();
                  await ticks(storing);
                }
                (order[lane] ??= []).push(index);
                running.delete(lane);
                places -= isAlone || storing !== undefined ? 0 : 1;
                if (fails) throw new Error("job failed");
                return index;
              };
              if (isAlone) return lanes.alone(lane, () => work());
              if (patience !== undefined) void ticks(patience).then(() => leave.abort(new Error("left")));
              return lanes.run(lane, work, leave.signal);
            }),
          );
          for (const seen of Object.values(order)) expect(seen).toEqual(seen.toSorted((a, b) => a - b));
          const ran = new Set(Object.values(order).flat());
          for (const [index, result] of results.entries()) {
            const reason = result.status === "rejected" ? String(result.reason) : "";
            const left = jobs[index]!.patience !== undefined && reason === "Error: left";
            const mayHaveRun = left && jobs[index]!.lends !== undefined;
            expect(mayHaveRun || ran.has(index) === !left).toBe(true);
            expect(left || reason === (jobs[index]!.fails ? "Error: job failed" : "")).toBe(true);
          }
          expect([lanes.running, lanes.waiting]).toEqual([0, 0]);
          expect(await lanes.run("a", async () => "free")).toBe("free");
        },
      ),
    );
  });

  test("a busy lane does not starve the others", async () => {
    const lanes = new TurnQueue(1);
    const order: string[] = [];
    const add = (name: string) => lanes.run(name[0]!, async () => void order.push(name));
    await Promise.all([add("a1"), add("a2"), add("a3"), add("b1")]);
    expect(order).toEqual(["a1", "b1", "a2", "a3"]);
  });

  test("more places are used at once; fewer let what runs end first", async () => {
    const lanes = new TurnQueue(1);
    const ends = new Map<string, () => void>();
    const add = (name: string) => lanes.run(name, () => new Promise<void>((end) => ends.set(name, end)));
    const all = ["a", "b", "c", "d"].map(add);
    expect(ends.size).toBe(1);
    lanes.resize(3);
    await ticks(3);
    expect([...ends.keys()]).toEqual(["a", "b", "c"]);
    lanes.resize(1);
    for (const name of ["a", "b"]) {
      ends.get(name)!();
      await ticks(9);
    }
    expect([lanes.running, lanes.waiting]).toEqual([1, 1]);
    ends.get("c")!();
    await ticks(9);
    ends.get("d")!();
    await Promise.all(all);
  });

  test("those that only wait for the disk hold up no others", async () => {
    const lanes = new TurnQueue(1);
    const stored: (() => void)[] = [];
    const add = (name: string) =>
      lanes.run(name, async (place) => {
        place.release();
        await new Promise<void>((resolve) => stored.push(resolve));
      });
    const all = ["a", "b", "a", "c"].map(add);
    await ticks(9);
    // The second job of a lane waits for the first, whatever that waits for.
    expect([stored.length, lanes.running, lanes.waiting]).toEqual([3, 0, 1]);
    while (stored.length > 0) {
      for (const resolve of stored.splice(0)) resolve();
      await ticks(9);
    }
    await Promise.all(all);
    expect([lanes.running, lanes.waiting]).toEqual([0, 0]);
  });

  test("who goes alone waits for its lane and not for a place", async () => {
    const lanes = new TurnQueue(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const stranger = lanes.run("b", () => promise);
    expect(await lanes.alone("a", async () => "done")).toBe("done");
    resolve();
    await stranger;
  });
});
