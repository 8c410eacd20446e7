// One reader who sorts the list that it is shown sorts it for everybody, beside a writer or not: no lock helps against that.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FeatureStates } from "../src/index.ts";

const made = () => ({
  list: [{ n: 1 }],
  byName: new Map([["a", { tags: new Set(["x"]) }]]),
  deep: { er: { still: [[0]] } },
});
type State = ReturnType<typeof made>;

const CHANGES: [what: string, change: (state: State) => unknown][] = [
  ["a member", (state) => Object.assign(state, { list: [] })],
  ["a list", (state) => state.list.push({ n: 2 })],
  ["an item of a list", (state) => (state.list[0]!.n = 2)],
  ["what is far inside", (state) => (state.deep.er.still[0]![0] = 1)],
  ["a Map", (state) => state.byName.set("b", { tags: new Set() })],
  ["an entry of a Map", (state) => (state.byName.get("a")!.tags = new Set())],
  ["a Set in a Map", (state) => state.byName.get("a")!.tags.add("y")],
  ["a Map, by emptying it", (state) => state.byName.clear()],
  ["a Map, by a new way", (state) => (state.byName as never as { getOrInsert: (k: string) => void }).getOrInsert("b")],
  ["a Set, by removing", (state) => state.byName.get("a")!.tags.delete("x")],
  ["a member that is not there yet", (state) => Object.defineProperty(state.deep, "more", { value: 1 })],
  ["a prototype", (state) => Object.setPrototypeOf(state.deep, {})],
];

describe("nobody who is shown a state changes", () => {
  test.each(CHANGES)("%s", async (_, change) => {
    const handle = new FeatureStates().shared("state", made());
    for (const way of ["read", "write"] as const) {
      const attempt = handle[way]((state) => {
        change(state as State);
        return state as never;
      });
      await expect(attempt).rejects.toThrow(TypeError);
    }
    expect(await handle.read((state) => state)).toEqual(made());
  });

  test.each(CHANGES)("%s, nor when a writer has made it", async (_, change) => {
    const handle = new FeatureStates().shared<State | undefined>("state", undefined);
    const own = made();
    await handle.write(() => own);
    expect(() => change(own)).toThrow(TypeError);
    expect(await handle.read((state) => state)).toEqual(made());
  });

  test("what the feature still holds of the first state", async () => {
    const own = made();
    const handle = new FeatureStates().shared("state", own);
    expect(() => own.list.push({ n: 2 })).toThrow(TypeError);
    expect(await handle.read(({ list }) => list.length)).toBe(1);
  });
});

test("a state that is frozen only outside is frozen inside as well", async () => {
  const inside = { n: new Map<string, number>() };
  new FeatureStates().shared("state", Object.freeze({ inside }));
  expect(() => inside.n.set("a", 1)).toThrow(TypeError);
});

test("a copy can be changed, and is the next state", async () => {
  const handle = new FeatureStates().shared("names", new Map([["a", 1]]));
  const next = await handle.write((names) => new Map(names).set("b", 2));
  expect([...next]).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
  expect(structuredClone(next)).toEqual(next);
});

test("what is no plain data is handed out as it is: an instance keeps its own state", async () => {
  class Connection {
    isOpen = true;
  }
  const [connection, bytes] = [new Connection(), new Uint8Array(2)];
  const handle = new FeatureStates().shared("things", { connection, bytes });
  await handle.read((things) => {
    things.connection.isOpen = false;
    things.bytes[0] = 1;
  });
  expect([connection.isOpen, bytes[0]]).toEqual([false, 1]);
});

test("however many entries and however deep, a state fits", async () => {
  let deep: object = {};
  for (let depth = 0; depth < 100_000; depth += 1) deep = { deep };
  const many = new Map(Array.from({ length: 300_000 }, (_, n) => [n, [n]]));
  const handle = new FeatureStates().shared("large", { deep, many, list: Array.from({ length: 300_000 }, () => ({})) });
  expect(await handle.read(({ many: entries }) => entries.get(299_999))).toEqual([299_999]);
  expect(() => many.get(7)!.push(1)).toThrow(TypeError);
});

test("a circle of objects, a getter that throws, and any JSON at all are taken", async () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const trap = Object.defineProperty({}, "bad", { get: () => expect.unreachable(), enumerable: true });
  new FeatureStates().shared("circle", { circle, trap });
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const handle = new FeatureStates().shared("json", structuredClone(value));
      expect(await handle.read((state) => JSON.stringify(state))).toBe(JSON.stringify(value));
    }),
  );
});
