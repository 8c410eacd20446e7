// A dead lock says nothing: the turn hangs, the tool hangs, and the log has no line of it. Whoever would close a circle of waits
// is told so instead, and everybody else goes on.
import type { SharedHandle } from "@svc/contract";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FeatureStates } from "../src/index.ts";

const handles = (...names: string[]): SharedHandle<number>[] => {
  const states = new FeatureStates();
  return names.map((name) => states.shared(name, 0));
};
const INSIDE = /"a" is asked for inside of itself/;
const CIRCLE = /is held by one who waits for what is held here/;

describe("the same handle inside of itself", () => {
  const ways = ["read", "write"] as const;

  test.each(ways.flatMap((outer) => ways.map((inner) => [inner, outer] as const)))("%s in %s", async (inner, outer) => {
    const [a] = handles("a") as [SharedHandle<number>];
    const attempt = a[outer](async (state) => {
      await Promise.resolve();
      await (inner === "read" ? a.clone("other").read(() => 0) : a.write(() => 5));
      return state;
    });
    await expect(attempt).rejects.toThrow(INSIDE);
    expect(await a.write((state) => state + 1)).toBe(1);
  });

  test("is refused however far inside, and caught there the state can be written on", async () => {
    const [a, b] = handles("a", "b") as [SharedHandle<number>, SharedHandle<number>];
    const told = await a.read(() => b.write(() => a.read((state) => state)).catch((error: Error) => error.message));
    expect(told).toMatch(INSIDE);
    expect(await b.read((state) => state)).toBe(0);
  });

  test("what was begun inside may ask once that is over", async () => {
    const [a] = handles("a") as [SharedHandle<number>];
    const gate = Promise.withResolvers<void>();
    let later: Promise<number> | undefined;
    await a.write((state) => {
      later = gate.promise.then(() => a.read((now) => now));
      return state + 1;
    });
    gate.resolve();
    expect(await later).toBe(1);
  });
});

describe("several handles", () => {
  test("two who take them in another order: the second is told, the first goes on", async () => {
    const [a, b] = handles("a", "b") as [SharedHandle<number>, SharedHandle<number>];
    const [inA, inB] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = a.write(async (state) => {
      inA.resolve();
      await inB.promise;
      await b.write((other) => other + 1);
      return state + 1;
    });
    const second = b.write(async (state) => {
      await inA.promise;
      inB.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      await a.read(() => 0);
      return state + 10;
    });
    await expect(second).rejects.toThrow(CIRCLE);
    await first;
    expect([await a.read((state) => state), await b.read((state) => state)]).toEqual([1, 1]);
  });

  test("what was asked for inside, and is over, is in nobody's way", async () => {
    const [a, b] = handles("a", "b") as [SharedHandle<number>, SharedHandle<number>];
    const [inA, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = a.write(async (state) => {
      await b.read(() => 0);
      inA.resolve();
      await go.promise;
      return state + 1;
    });
    await inA.promise;
    const second = b.write(() => a.read((state) => state));
    go.resolve();
    await first;
    expect(await second).toBe(1);
  });

  /** A tree of stays: first the handle, then what is asked for inside of it, side by side. */
  interface Plan {
    readonly handle: number;
    readonly kind: "read" | "write";
    readonly inner: readonly Plan[];
  }
  const planOf = (depth: number): fc.Arbitrary<Plan> =>
    fc.record({
      handle: fc.nat(3),
      kind: fc.constantFrom("read", "write"),
      inner: depth === 0 ? fc.constant([]) : fc.array(planOf(depth - 1), { maxLength: 2 }),
    });
  const plan = planOf(3);

  async function play(scheduler: fc.Scheduler, plans: readonly Plan[]): Promise<string[]> {
    const all = handles("a", "b", "c", "d");
    const run = async ({ handle, kind, inner }: Plan): Promise<void> => {
      const work = async (state: number): Promise<number> => {
        await scheduler.schedule(Promise.resolve());
        await Promise.all(inner.map(run));
        return state + 1;
      };
      await (kind === "read" ? all[handle]!.read(work) : all[handle]!.write(work));
    };
    const outcomes: string[] = [];
    for (const plan of plans) {
      void scheduler
        .schedule(Promise.resolve())
        .then(() => run(plan))
        .then(
          () => outcomes.push("ok"),
          (error: Error) => outcomes.push(error instanceof TypeError ? "refused" : error.message),
        );
    }
    await scheduler.waitIdle();
    // Whoever is inside or waits now does so for ever.
    const writers = all.map((handle) => handle.write((state) => state).then(() => outcomes.push("free")));
    await Promise.race([Promise.all(writers), new Promise((resolve) => setImmediate(resolve))]);
    return outcomes;
  }

  test("whatever is asked for inside of whatever, everybody ends and every lock is free", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(plan, { minLength: 1, maxLength: 6 }), async (scheduler, plans) => {
        const outcomes = await play(scheduler, plans);
        expect(outcomes.filter((outcome) => outcome !== "free")).toHaveLength(plans.length);
        expect(outcomes.filter((outcome) => outcome === "free")).toHaveLength(4);
        expect(new Set(outcomes).difference(new Set(["ok", "refused", "free"]))).toEqual(new Set());
      }),
      { numRuns: cases(100) },
    );
  });

  test("whoever keeps one order is never refused", async () => {
    const ascending = (from: number, depth: number): fc.Arbitrary<Plan[]> =>
      from > 3 || depth === 0
        ? fc.constant([])
        : fc.integer({ min: from, max: 3 }).chain((handle) =>
            fc
              .record({
                kind: fc.constantFrom("read" as const, "write" as const),
                inner: ascending(handle + 1, depth - 1),
              })
              .map((rest) => [{ handle, ...rest }]),
          );
    const plans = fc.array(ascending(0, 4), { minLength: 1, maxLength: 6 }).map((each) => each.flat());
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plans, async (scheduler, plans) => {
        expect(new Set(await play(scheduler, plans))).toEqual(new Set(["ok", "free"]));
      }),
    );
  });
});

describe("who gives up waiting", () => {
  const soon = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

  test("is told why, and those behind go on", async () => {
    const [a] = handles("a") as [SharedHandle<number>];
    const gate = Promise.withResolvers<void>();
    const controller = new AbortController();
    const inside = a.read(() => gate.promise);
    const writer = a.write((state) => state + 1, controller.signal);
    const behind = a.read((state) => state);
    const why = new Error("the turn was stopped");
    controller.abort(why);
    await expect(writer).rejects.toBe(why);
    expect(await behind).toBe(0);
    gate.resolve();
    await inside;
  });

  test("does not wait at all when it gave up before; whoever is inside is not interrupted", async () => {
    const [a] = handles("a") as [SharedHandle<number>];
    const why = new Error("called off");
    await expect(a.read(() => 0, AbortSignal.abort(why))).rejects.toBe(why);
    const controller = new AbortController();
    const writer = a.write(async (state) => {
      controller.abort(why);
      await soon();
      return state + 1;
    }, controller.signal);
    expect(await writer).toBe(1);
  });

  test("leaves nothing at its signal", async () => {
    const [a] = handles("a") as [SharedHandle<number>];
    const { signal } = new AbortController();
    let listeners = 0;
    signal.addEventListener = () => void (listeners += 1);
    signal.removeEventListener = () => void (listeners -= 1);
    await Promise.all([1, 2, 3].map(() => a.write((state) => state + 1, signal)));
    expect(listeners).toBe(0);
  });
});
