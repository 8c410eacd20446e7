// Shared state: a reader beside a writer, a writer starved by readers, a lock that a failure or one who gave up leaves shut.
import type { SharedHandle } from "@svc/contract";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FeatureStates } from "../src/index.ts";

const handleOf = <T>(name: string, initial: T): SharedHandle<T> => new FeatureStates().shared(name, initial);

interface Job {
  readonly kind: "read" | "write";
  /** Which of the clones is used. */
  readonly handle: number;
  /** Times it waits while inside. */
  readonly waits: number;
  readonly end: "normal" | "throws" | "rejects";
  /** Gives up waiting at some time, before or after its turn has come. */
  readonly givesUp: boolean;
}

const job = fc.record<Job>({
  kind: fc.constantFrom("read", "write"),
  handle: fc.nat(2),
  waits: fc.nat(3),
  end: fc.constantFrom("normal", "normal", "throws", "rejects"),
  givesUp: fc.boolean(),
});
const GAVE_UP = new Error("gave up");

describe("any mix of readers and writers, in any interleaving", () => {
  /** Runs the jobs on clones of one handle; the scheduler decides when each arrives and how long it stays. */
  async function play(scheduler: fc.Scheduler, jobs: readonly Job[]) {
    const first = handleOf<readonly number[]>("numbers", []);
    const handles = [first, first.clone(), first.clone("again").clone()];
    const inside = { readers: 0, writers: 0, mostReaders: 0 };
    const arrived: number[] = [];
    const entered: number[] = [];
    const outcomes = new Map<number, "ok" | "failed" | "gave up">();
    const seen = new Map<number, readonly number[]>();

    const stay = async (index: number, { kind, waits, end }: Job, state: readonly number[]): Promise<void> => {
      entered.push(index);
      seen.set(index, state);
      inside[kind === "read" ? "readers" : "writers"] += 1;
      inside.mostReaders = Math.max(inside.mostReaders, inside.readers);
      expect(inside.writers).toBeLessThanOrEqual(1);
      expect(inside.writers === 1 && inside.readers > 0).toBe(false);
      for (let wait = 0; wait < waits; wait += 1) await scheduler.schedule(Promise.resolve());
      expect(inside.writers).toBe(kind === "write" ? 1 : 0);
      inside[kind === "read" ? "readers" : "writers"] -= 1;
      if (end === "rejects") throw new Error("rejected");
    };
    const start = (index: number, job: Job): Promise<unknown> => {
      arrived.push(index);
      const handle = handles[job.handle]!;
      const throwing = job.end === "throws";
      const controller = new AbortController();
      if (job.givesUp) void scheduler.schedule(Promise.resolve()).then(() => controller.abort(GAVE_UP));
      const enter = (state: readonly number[]): void => {
        entered.push(index);
        seen.set(index, state);
        throw new Error("thrown");
      };
      if (job.kind === "read") {
        return handle.read((state) => (throwing ? enter(state) : stay(index, job, state)), controller.signal);
      }
      return handle.write((state) => {
        if (throwing) enter(state);
        return stay(index, job, state).then(() => [...state, index]);
      }, controller.signal);
    };

    const all = jobs.map((job, index) =>
      scheduler
        .schedule(Promise.resolve())
        .then(() => start(index, job))
        .then(
          () => outcomes.set(index, "ok"),
          (error: unknown) => outcomes.set(index, error === GAVE_UP ? "gave up" : "failed"),
        ),
    );
    await scheduler.waitIdle();
    return { first, handles, inside, arrived, entered, outcomes, seen, all };
  }

  test("nobody beside a writer; everyone in the order of arrival; nobody forgotten; a failed write changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(job, { maxLength: 20 }), async (scheduler, jobs) => {
        const { first, handles, inside, arrived, entered, outcomes, seen, all } = await play(scheduler, jobs);
        // Nothing is under way any more, so whoever is not done has been forgotten.
        expect(outcomes.size).toBe(jobs.length);
        await Promise.all(all);
        expect(inside).toMatchObject({ readers: 0, writers: 0 });
        for (const [index, { end, givesUp }] of jobs.entries()) {
          const gaveUp = givesUp && !entered.includes(index);
          expect(outcomes.get(index)).toBe(gaveUp ? "gave up" : end === "normal" ? "ok" : "failed");
        }
        expect(entered).toEqual(arrived.filter((index) => outcomes.get(index) !== "gave up"));

        const state: number[] = [];
        for (const index of entered) {
          expect(seen.get(index)).toEqual(state);
          const { kind, end } = jobs[index]!;
          if (kind === "write" && end === "normal") state.push(index);
        }
        for (const handle of handles) expect(await handle.read((now) => now)).toEqual(state);
        expect(await first.read((now) => now.length)).toBe(state.length);
      }),
    );
  });

  test("readers alone are all inside together", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 10 }), async (scheduler, count) => {
        const handle = handleOf("n", 1);
        const gate = Promise.withResolvers<void>();
        let inside = 0;
        const all = Array.from({ length: count }, () =>
          scheduler.schedule(Promise.resolve()).then(() => handle.read(() => ((inside += 1), gate.promise))),
        );
        await scheduler.waitIdle();
        expect(inside).toBe(count);
        gate.resolve();
        await Promise.all(all);
      }),
    );
  });
});

describe("a handle", () => {
  test("lets a waiting writer go before readers that come later, though readers are inside", async () => {
    const handle = handleOf("n", 0);
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    const inside = handle.read(() => gate.promise);
    const writer = handle.write((n) => (order.push("writer"), n + 1));
    const later = handle.read((n) => order.push(`reader saw ${n}`));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    gate.resolve();
    await Promise.all([inside, writer, later]);
    expect(order).toEqual(["writer", "reader saw 1"]);
  });

  test("lets all readers in together that waited for the same writer", async () => {
    const handle = handleOf("n", 0);
    const [writing, reading] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
    let inside = 0;
    const writer = handle.write(() => writing.promise);
    const readers = [1, 2, 3].map(() => handle.read(() => ((inside += 1), reading.promise)));
    writing.resolve(1);
    await writer;
    await new Promise((resolve) => setImmediate(resolve));
    expect(inside).toBe(3);
    reading.resolve();
    await Promise.all(readers);
  });

  test("gives back what a reader returns, and rejects with what it throws", async () => {
    const handle = handleOf("n", { count: 2 });
    const boom = new Error("boom");
    expect(await handle.read(({ count }) => count * 2)).toBe(4);
    expect(await handle.read(async ({ count }) => count + 1)).toBe(3);
    await expect(handle.read(() => Promise.reject(boom))).rejects.toBe(boom);
    await expect(
      handle.write(() => {
        throw boom;
      }),
    ).rejects.toBe(boom);
    expect(await handle.read(({ count }) => count)).toBe(2);
  });

  test("keeps its name; a clone may have another, and shares the state both ways", async () => {
    const first = handleOf<string>("first", "a");
    const second = first.clone("second");
    expect([first.name, second.name, second.clone().name]).toEqual(["first", "second", "second"]);
    await first.write((state) => `${state}b`);
    await second.write((state) => `${state}c`);
    expect(await Promise.all([first, second].map((handle) => handle.read((state) => state)))).toEqual(["abc", "abc"]);
  });

  test("holds undefined like any other state", async () => {
    const handle = handleOf<number | undefined>("n", undefined);
    expect(await handle.read((state) => state)).toBeUndefined();
    await handle.write(() => 1);
    await handle.clone().write(() => undefined);
    expect(await handle.read((state) => state)).toBeUndefined();
  });

  test("shows its state to nobody who only looks at it", () => {
    const handle = handleOf("n", { token: "hidden" });
    expect(JSON.stringify(handle)).toBe('{"name":"n"}');
    expect(Object.values(handle)).toEqual(["n"]);
  });
});
