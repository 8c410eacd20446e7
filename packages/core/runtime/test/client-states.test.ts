// What belongs to one client reaches another by one wrong key. Each has a state of its own, for as long as there is room and the
// client is there.
import type { ClientId } from "@svc/contract";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClientStates, FeatureStates } from "../src/index.ts";

const client = (name: string): ClientId => name as ClientId;
const [a, b, c] = ["a", "b", "c"].map(client) as [ClientId, ClientId, ClientId];
const add = (n: number): number => n + 1;

describe("each client has a state of its own", () => {
  test("which begins anew for each, and is the same by every handle on it", async () => {
    const lists = new ClientStates<string[]>("lists", () => []);
    await lists.of(a).write((list) => [...list, "of a"]);
    await lists
      .of(a)
      .clone("again")
      .write((list) => [...list, "too"]);
    await lists.of(b).write((list) => [...list, "of b"]);
    const all = await Promise.all([a, b, c].map((id) => lists.of(id).read((list) => list.join())));
    expect(all).toEqual(["of a,too", "of b", ""]);
  });

  test("names that are names of Object too are clients like any other", async () => {
    const counts = new ClientStates("counts", () => 0);
    for (const name of ["__proto__", "constructor", "toString", ""]) {
      expect(await counts.of(client(name)).write(add)).toBe(1);
    }
  });

  test("any clients, in any order: nobody's count is touched by another", async () => {
    const calls = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "a:b", "%"), fc.nat(5)), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), calls, async (scheduler, calls) => {
        const counts = new ClientStates("counts", () => 0);
        for (const [name, by] of calls) {
          void counts.of(client(name)).write(async (count) => {
            await scheduler.schedule(Promise.resolve());
            return count + by;
          });
        }
        await scheduler.waitIdle();
        for (const name of new Set(calls.map(([name]) => name))) {
          const own = calls.filter(([one]) => one === name).reduce((sum, [, by]) => sum + by, 0);
          expect(await counts.of(client(name)).read((count) => count)).toBe(own);
        }
      }),
    );
  });

  test("one client's writer does not wait for another's", async () => {
    const counts = new ClientStates("counts", () => 0);
    const gate = Promise.withResolvers<number>();
    const slow = counts.of(a).write(() => gate.promise);
    expect(await counts.of(b).write(add)).toBe(1);
    gate.resolve(7);
    expect(await slow).toBe(7);
  });
});

describe("room for so many", () => {
  const filled = async (most: number, ...ids: ClientId[]) => {
    const counts = new ClientStates("counts", () => 0, { most });
    for (const id of ids) await counts.of(id).write(add);
    return counts;
  };
  const countOf = (counts: ClientStates<number>, id: ClientId) => counts.of(id).read((count) => count);

  test("whoever was not there for longest begins again; a look counts as being there", async () => {
    const counts = await filled(2, a, b);
    expect(await countOf(counts, a)).toBe(1);
    await counts.of(c).write(add);
    expect(counts.size).toBe(2);
    expect([await countOf(counts, a), await countOf(counts, c)]).toEqual([1, 1]);
    expect(await countOf(counts, b)).toBe(0);
  });

  test("a handle that was kept finds the state of now, never one that nobody else sees", async () => {
    const counts = await filled(1, a);
    const kept = counts.of(a);
    await counts.of(b).write(add);
    await Promise.all([kept.write(add), counts.of(a).write(add)]);
    expect(await kept.read((count) => count)).toBe(2);
  });

  test("what is in use stays, whatever comes, and goes later", async () => {
    const counts = await filled(1, a);
    const gate = Promise.withResolvers<void>();
    const inUse = counts.of(a).write(async (count) => (await gate.promise, count + 1));
    await counts.of(b).write(add);
    await counts.of(c).write(add);
    const waiting = counts.of(a).read((count) => count);
    gate.resolve();
    await inUse;
    expect(await waiting).toBe(2);
    expect(counts.size).toBeLessThanOrEqual(2);
    await countOf(counts, b);
    expect(counts.size).toBe(1);
  });

  test("thousands who come once are as many as there is room for", async () => {
    const counts = new ClientStates("counts", () => 0);
    for (let n = 0; n < 3000; n += 1) await countOf(counts, client(`client-${n}`));
    expect(counts.size).toBe(1000);
  });

  test("a crowd that is there at once is more than there is room for, and gone soon after", async () => {
    const counts = new ClientStates("counts", () => 0, { most: 10 });
    const gate = Promise.withResolvers<void>();
    const crowd = Array.from({ length: 100 }, (_, n) => client(`client-${n}`));
    const all = crowd.map((id) => counts.of(id).write(async (count) => (await gate.promise, count + 1)));
    gate.resolve();
    expect(await Promise.all(all)).toEqual(crowd.map(() => 1));
    expect(counts.size).toBe(100);
    for (let n = 0; n < 20; n += 1) await countOf(counts, a);
    expect(counts.size).toBe(10);
  });

  test.each([0, -1, 1.5, Number.NaN, Infinity])("no limit of %d", (most) => {
    expect(() => new ClientStates("counts", () => 0, { most })).toThrow(TypeError);
  });
});

describe("what one construction of a feature asks for", () => {
  test("names are unique in it, whichever kind of state they are of", () => {
    const states = new FeatureStates();
    states.shared("seen", 1);
    expect(() => states.perClient("seen", () => 1)).toThrow('Two states have the name "seen"');
    expect(() => new FeatureStates().shared("seen", 1)).not.toThrow();
  });

  test.each(["", "A", "1a", "a b", "a:b", "a".repeat(65)])("no name %j", (name) => {
    expect(() => new FeatureStates().shared(name, 1)).toThrow(TypeError);
  });

  test("nothing can be asked for once it is constructed", () => {
    const states = new FeatureStates();
    states.seal();
    expect(() => states.shared("late", 1)).toThrow("in create(), and not later");
    expect(() => states.perClient("late", () => 1)).toThrow("in create(), and not later");
  });

  test("a client that is gone is forgotten by all of it, and by nobody else's", async () => {
    const [states, others] = [new FeatureStates(), new FeatureStates()];
    const counts = [
      states.perClient("one", () => 0),
      states.perClient("two", () => 0),
      others.perClient("one", () => 0),
    ];
    for (const count of counts) for (const id of [a, b]) await count.of(id).write(add);
    states.forget(a);
    const all = counts.flatMap((count) => [a, b].map((id) => count.of(id).read((n) => n)));
    expect(await Promise.all(all)).toEqual([0, 1, 0, 1, 1, 1]);
  });
});
