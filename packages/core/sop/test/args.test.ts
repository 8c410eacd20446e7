// Arguments of a step without a model are filled with what a stranger has sent. A part of it that became a piece of a longer
// text would become a piece of a command.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillArgs, referencesIn } from "../src/library/args.ts";

const INPUT = { n: 3, text: "a; rm -rf /", list: [{ "a b": null }], big: { x: [1] } };

describe("a text that is exactly a path", () => {
  test.each([
    ["$", INPUT],
    ["$.n", 3],
    ["$.text", "a; rm -rf /"],
    ["$.list[0]", { "a b": null }],
    ['$.list[0]["a b"]', null],
    ["$.list.0", { "a b": null }],
  ])("%s is replaced by the value itself", (text, value) => {
    expect(fillArgs({ a: text, deep: [{ b: text }] }, INPUT)).toEqual({ a: value, deep: [{ b: value }] });
  });

  test.each(["$.missing", "$.list[1]", "$.n.x", "$.constructor", "$.list.length", "$.__proto__"])(
    "%s that is not there fails",
    (text) => {
      expect(() => fillArgs({ a: { b: [text] } }, INPUT)).toThrow(
        expect.objectContaining({ code: "SOP_STEP_FAILED", message: expect.stringContaining("args.a.b[0]") }),
      );
    },
  );
});

describe("every other text stays as it is", () => {
  test.each(["echo $.text", "$.text ", " $.n", "$.n $.n", "${n}", "$5", "$.", "$n", "price: $", "$.a..b", "\\$.n"])(
    "%j",
    (text) => {
      expect(fillArgs({ a: text }, INPUT)).toEqual({ a: text });
      expect(referencesIn({ a: text })).toEqual([]);
    },
  );

  test("and $$ in front of a path is how to write one", () => {
    expect(fillArgs({ a: "$$.n", b: "$$", c: "$$$.n", d: "$$HOME" }, INPUT)).toEqual({
      a: "$.n",
      b: "$",
      c: "$$$.n",
      d: "$$HOME",
    });
  });
});

test("what is filled in is not looked into again", () => {
  expect(fillArgs({ a: "$.n" }, { n: "$.secret", secret: 1 })).toEqual({ a: "$.secret" });
});

test("references are found wherever they stand", () => {
  const args = { command: "$.a", env: [{ X: "no" }, { X: "$" }], n: 1, none: null };
  expect(referencesIn(args)).toEqual([["command"], ["env", 1, "X"]]);
});

test("what has no reference comes out as it went in", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (args, input) => {
      fc.pre(!JSON.stringify(args).includes("$"));
      expect(JSON.stringify(fillArgs(args, input as never))).toBe(JSON.stringify(args));
    }),
  );
});
