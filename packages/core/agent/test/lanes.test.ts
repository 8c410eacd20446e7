// Messages of one conversation answered out of order, or one busy conversation starving the others.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lanes } from "../src/turn/lanes.ts";

describe("lanes", () => {
  test("any arrivals: one at a time per lane, in order, never more than the limit, nobody forgotten", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ lane: fc.constantFrom("a", "b", "c", "d"), steps: fc.nat(4), fails: fc.boolean() }), {
          maxLength: 40,
        }),
        fc.integer({ min: 1, max: 3 }),
        async (jobs, limit) => {
          const lanes = new Lanes(limit);
          const running = new Set<string>();
          const order: Record<string, number[]> = {};
          const results = await Promise.allSettled(
            jobs.map(({ lane, steps, fails }, index) =>
              lanes.run(lane, async () => {
                expect(running.has(lane)).toBe(false);
                running.add(lane);
                expect(running.size).toBeLessThanOrEqual(limit);
                for (let step = 0; step < steps; step += 1) await Promise.resolve();
                (order[lane] ??= []).push(index);
                running.delete(lane);
                if (fails) throw new Error("job failed");
                return index;
              }),
            ),
          );
          for (const seen of Object.values(order)) expect(seen).toEqual(seen.toSorted((a, b) => a - b));
          expect(results.map((result) => result.status === "rejected")).toEqual(jobs.map((job) => job.fails));
          expect([lanes.running, lanes.waiting]).toEqual([0, 0]);
        },
      ),
    );
  });

  test("a busy lane does not starve the others", async () => {
    const lanes = new Lanes(1);
    const order: string[] = [];
    const job = (name: string) => lanes.run(name[0]!, async () => void order.push(name));
    await Promise.all([job("a1"), job("a2"), job("a3"), job("b1")]);
    expect(order).toEqual(["a1", "b1", "a2", "a3"]);
  });
});
