// The registry is fixed once start-up is over: nobody who holds it, or a list out of it, can change what the agent can do.
import type { Ingress } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { FrozenMap, type RegistryPart, buildRegistry } from "../src/index.ts";
import { tool } from "./fake-features.ts";

const part = (feature: string, rest: Partial<RegistryPart>): RegistryPart => ({
  feature,
  tools: [],
  readers: [],
  sandboxes: [],
  channels: [],
  ingress: [],
  observers: [],
  routes: [],
  ...rest,
});

describe("FrozenMap", () => {
  const map = new FrozenMap([
    ["b", 1],
    ["a", 2],
  ]);

  test("is read like a map, in the order of construction", () => {
    expect([map.get("a"), map.get("x"), map.has("b"), map.size]).toEqual([2, undefined, true, 2]);
    expect([map.names(), map.list(), [...map]]).toEqual([
      ["b", "a"],
      [1, 2],
      [
        ["b", 1],
        ["a", 2],
      ],
    ]);
  });

  test("a name given twice is refused", () => {
    const entries = [
      ["a", 1],
      ["a", 2],
    ] as const;
    expect(() => new FrozenMap(entries)).toThrow(TypeError);
  });

  test.each<[string, () => unknown]>([
    ["Map.prototype.set", () => Map.prototype.set.call(map as never, "x", 9)],
    ["Map.prototype.delete", () => Map.prototype.delete.call(map as never, "a")],
    ["Map.prototype.clear", () => Map.prototype.clear.call(map as never)],
    ["its own member", () => Object.assign(map, { get: () => 9 })],
    ["a getter in front", () => Object.defineProperty(map, "size", { value: 9 })],
    ["its prototype", () => Object.assign(FrozenMap.prototype, { get: () => 9 })],
    ["another prototype", () => Object.setPrototypeOf(map, Map.prototype)],
    ["running the constructor again", () => (FrozenMap as unknown as (entries: unknown) => void).call(map, [["x", 9]])],
  ])("can't be changed by %s", (_, attack) => {
    expect(attack).toThrow(TypeError);
    expect([...map]).toHaveLength(2);
    expect(map.get("a")).toBe(2);
  });

  test("what it hands out are copies", () => {
    map.list().push(9);
    map.names().length = 0;
    expect(map.size).toBe(2);
  });
});

describe("buildRegistry", () => {
  test("holds everyone's parts and who owns each tool", () => {
    const observer = { record: () => undefined };
    const registry = buildRegistry([
      part("core", { tools: [tool("a")] }),
      part("x", { tools: [tool("b")], observers: [observer] }),
    ]);
    expect(registry.tools.names()).toEqual(["a", "b"]);
    expect(registry.toolOwners.get("b")).toBe("x");
    expect(registry.observers).toEqual([{ feature: "x", observer }]);
  });

  test("says of each way in whose it is and which channel it brings messages to", () => {
    const ingress: Ingress = {
      path: "/chat",
      methods: ["POST"],
      signed: true,
      verify: () => ({ ok: true }),
      parse: () => ({}),
    };
    const registry = buildRegistry([part("core", {}), part("channel-chat", { ingress: [["chat", ingress]] })]);
    expect(registry.ingress).toEqual([{ feature: "channel-chat", channel: "chat", ingress }]);
    expect(() => Object.assign(registry.ingress[0] as object, { feature: "y" })).toThrow(TypeError);
    expect(() => (registry.ingress as unknown[]).pop()).toThrow(TypeError);
  });

  test("is frozen all the way", () => {
    const registry = buildRegistry([part("x", { observers: [{ record: () => undefined }] })]);
    expect(() => Object.assign(registry, { tools: new FrozenMap() })).toThrow(TypeError);
    expect(() => (registry.observers as unknown[]).push(1)).toThrow(TypeError);
    expect(() => (registry.routes as unknown[]).push(1)).toThrow(TypeError);
    expect(() => Object.assign(registry.observers[0] as object, { feature: "y" })).toThrow(TypeError);
  });
});
