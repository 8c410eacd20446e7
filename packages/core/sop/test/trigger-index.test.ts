// An event starts exactly the procedures that wait for it: one too few is work that is not done, one too many is work that
// nobody asked for; and ten thousand procedures must not make each request slower.
import { describe, expect, test } from "vitest";
import type { SopDefinition, SopTrigger } from "../src/library/types.ts";
import { indexTriggers } from "../src/triggers/match.ts";

const sop = (name: string, ...triggers: Partial<SopTrigger>[]): SopDefinition =>
  ({ name, triggers: triggers.map((trigger) => ({ condition: undefined, ...trigger })) }) as unknown as SopDefinition;
const webhook = (topic: string, payload: string | null = null) => ({ source: "webhook", topic, payload }) as const;
const names = (found: readonly SopDefinition[]): string[] => found.map(({ name }) => name);

describe("an event", () => {
  const index = indexTriggers([
    sop(
      "a",
      { type: "webhook", path: "/x" },
      { type: "webhook", path: "/x", condition: "$.n > 1" },
      { type: "manual" },
    ),
    sop("b", { type: "webhook", path: "/x", condition: "$.n > 1" }),
    sop(
      "c",
      { type: "channel_event", event: "/x" },
      { type: "cron", expression: "0 9 * * *", timezone: "Europe/Berlin" },
    ),
    sop("d", { type: "webhook", path: "/never", condition: "unreadable" }),
  ]);

  test("starts each that fits, once, in order", () => {
    expect(names(index.matching(webhook("/x", '{"n":2}')))).toEqual(["a", "b"]);
    expect(names(index.matching(webhook("/x", '{"n":1}')))).toEqual(["a"]);
    expect(names(index.matching(webhook("/x")))).toEqual(["a"]);
  });

  test("fits by source and by every letter of its topic", () => {
    expect(names(index.matching({ source: "channel_event", topic: "/x", payload: null }))).toEqual(["c"]);
    expect(names(index.matching({ source: "manual", topic: "a", payload: null }))).toEqual(["a"]);
    expect(names(index.matching({ source: "cron", topic: "0 9 * * *", payload: null }))).toEqual(["c"]);
    for (const topic of ["/X", "/x/", "/x ", "x", "", "/x?a"]) expect(index.matching(webhook(topic))).toEqual([]);
    expect(index.matching({ source: "manual", topic: "b", payload: null })).toEqual([]);
    expect(index.matching(webhook("/never", "{}"))).toEqual([]);
  });

  test("of a path is known before there is one", () => {
    expect([index.hasPath("/x"), index.hasPath("/X"), index.hasPath("a")]).toEqual([true, false, false]);
    expect(index.crons()).toEqual([{ sop: "c", expression: "0 9 * * *", timezone: "Europe/Berlin" }]);
  });
});

describe("a message of MQTT", () => {
  const index = indexTriggers([
    sop("a", { type: "mqtt", topic: "home/#" }),
    sop("b", { type: "mqtt", topic: "home/+/door" }, { type: "mqtt", topic: "home/hall/door", condition: "> 1" }),
    sop("c", { type: "mqtt", topic: "home/hall/door" }),
    sop("d", { type: "mqtt", topic: "#" }, { type: "webhook", path: "home" }),
  ]);
  const starts = (topic: string, payload: string | null = null, source: "mqtt" | "webhook" = "mqtt") =>
    names(index.matching({ source, topic, payload }));

  test("starts each procedure with a filter that matches, once, in order", () => {
    expect(starts("home/hall/door", "2")).toEqual(["a", "b", "c", "d"]);
    expect(starts("home/hall")).toEqual(["a", "d"]);
    expect(starts("home")).toEqual(["a", "d"]);
    expect(starts("Home")).toEqual(["d"]);
    expect(starts("$SYS/uptime")).toEqual([]);
    expect(starts("home", null, "webhook")).toEqual(["d"]);
  });
});

test("the work for an event does not grow with the procedures that do not wait for it", () => {
  let looked = 0;
  const counted = (index: number): SopDefinition => {
    const definition = sop(`s${index}`, { type: "webhook", path: `/p${index}` });
    return new Proxy(definition, { get: (target, key) => ((looked += 1), Reflect.get(target, key)) });
  };
  const cost = (count: number): number => {
    const index = indexTriggers(Array.from({ length: count }, (_one, at) => counted(at)));
    looked = 0;
    expect(index.matching(webhook("/p7"))).toHaveLength(1);
    expect(index.matching(webhook("/none"))).toEqual([]);
    return looked;
  };
  expect(cost(10_000)).toBe(cost(10));
});
