// Addresses, times and configuration as the page reads them: foreign input, whose wrong reading shows a wrong
// view, or none.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hrefOf, parseRoute } from "../src/state/route.ts";
import { bytes, duration, relative } from "../src/texts/format.ts";
import { sectionsOf } from "../src/views/config.tsx";

describe("an address of the page", () => {
  test("round-trips any id", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (id, state) => {
        const whole = id.isWellFormed() ? id : "x";
        expect(parseRoute(hrefOf("runs", whole, { state }))).toMatchObject({
          view: "runs",
          id: whole,
          query: { state },
        });
      }),
    );
  });

  test("never throws, whatever is typed", () => {
    fc.assert(fc.property(fc.string(), (hash) => void parseRoute(hash)));
    expect(parseRoute("#/runs/%E0%A4%A")).toMatchObject({ view: "runs", id: "%E0%A4%A" });
    expect(parseRoute("")).toMatchObject({ view: "", id: undefined });
  });
});

describe("times", () => {
  test.each([
    [0, "just now"],
    [-30_000, "just now"],
    [-60_000, "1 minute ago"],
    [-3_600_000, "1 hour ago"],
    [-26 * 3_600_000, "yesterday"],
    [86_400_000, "tomorrow"],
    [20_000, "in a moment"],
  ])("%i ms from now is %s", (offsetMs, words) => expect(relative(1e12 + offsetMs, 1e12)).toBe(words));

  test.each([
    [420, "0.4 s"],
    [59_400, "59 s"],
    [184_000, "3 min 4 s"],
    [7_500_000, "2 h 5 min"],
    [-5, "0.0 s"],
  ])("%i ms last %s", (ms, words) => expect(duration(ms)).toBe(words));
});

test("sizes have their unit", () => {
  expect([bytes(0), bytes(999), bytes(1_500), bytes(121_000_000)]).toEqual(["0 B", "999 B", "1.5 kB", "121.0 MB"]);
});

test("the config is listed by its schema: nested tables, unset keys, free names", () => {
  const schema = {
    properties: {
      gateway: {
        type: "object",
        properties: { port: { description: "TCP port.", default: 1 }, host: { default: "h" } },
      },
      security: { type: "object", properties: { policy: { type: "object", properties: { autonomy: {} } } } },
      agents: {
        type: "object",
        additionalProperties: { type: "object", properties: { model: { description: "Its model." } } },
      },
    },
  };
  const config = { gateway: { port: 2 }, security: { policy: { autonomy: "full" } }, agents: { mine: { model: "x" } } };
  const sections = sectionsOf(config, schema);
  expect(sections.map(({ name }) => name)).toEqual(["gateway", "security.policy", "agents.mine"]);
  expect(sections[0]?.keys).toMatchObject([
    { name: "port", value: 2, description: "TCP port.", isDefault: false },
    { name: "host", value: undefined, isDefault: true },
  ]);
  expect(sections[2]?.keys).toMatchObject([{ name: "model", value: "x", description: "Its model." }]);
});
