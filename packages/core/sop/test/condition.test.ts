// A condition decides whether something runs by itself. One that is read wrongly runs it for the wrong event; one that throws or
// never ends, on a text that a stranger or an agent has written, takes the service down.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCondition } from "../src/triggers/condition.ts";
import { conditionHolds } from "../src/triggers/match.ts";

describe("what it compares", () => {
  test.each([
    // The path.
    ["$.a.b[0].c == 1", { a: { b: [{ c: 1 }] } }, true],
    ["$.a.1 == 2", { a: [1, 2] }, true],
    ["$.a.1 == 2", { a: { 1: 2 } }, true],
    ["$[1] == 2", [1, 2], true],
    ['$["a.b"]["c d"] == 1', { "a.b": { "c d": 1 } }, true],
    ["$['a.b'] == 1", { "a.b": 1 }, true],
    ['$["a\\"b"] == 1', { 'a"b': 1 }, true],
    ["$.build-id == 7", { "build-id": 7 }, true],
    ["$.ünï == 1", { ünï: 1 }, true],
    ["> 3", 4, true],
    ["  $.a   >=   3  ", { a: 3 }, true],
    ["$.a>=3", { a: 3 }, true],
    // What is not there fits nothing, not even "is not".
    ["$.a[2] != 1", { a: [1, 2] }, false],
    ["$.a.b != 1", { a: 1 }, false],
    ["$.a.b != 1", { a: null }, false],
    ["$.length != 9", [1], false],
    ["$.a.length > 0", { a: "text" }, false],
    ["$.constructor != 1", {}, false],
    ["$.__proto__ != 1", {}, false],
    ['$["0"] == 1', [1], true],
    ["$.01 == 1", [0, 1], false],
    // Numbers, also as text.
    ["$.v > 85", { v: "90" }, true],
    ["$.v > 9", { v: "10" }, true],
    ['$.v > "9"', { v: 10 }, true],
    ["$.v == 42", { v: "42.0" }, true],
    ["$.v == -3.5e1", { v: -35 }, true],
    ["$.v > 85", { v: "0x60" }, false],
    ["$.v >= 0", { v: "" }, false],
    ["$.v >= 0", { v: " " }, false],
    ["$.v <= 1", { v: null }, false],
    ["$.v >= 1", { v: true }, false],
    ["$.v > 1", { v: [2] }, false],
    // Text.
    ['$.v > "2026-01-31"', { v: "2026-02-01" }, true],
    ['$.v < "b"', { v: "a" }, true],
    ['$.v == "1.0"', { v: "1" }, false],
    ['$.v == "<>!=\\n"', { v: "<>!=\n" }, true],
    ["$.v == 'a\\n'", { v: "a\\n" }, true],
    ['$.v == ""', { v: "" }, true],
    // Text without quotes is the text in quotes.
    ["$.v == critical", { v: "critical" }, true],
    ["$.v == critical", { v: "Critical" }, false],
    ["$.v != critical", { v: "low" }, true],
    ["$.v >= b", { v: "c" }, true],
    ["$.v == ann@example.org", { v: "ann@example.org" }, true],
    ["$.v == zürich-1", { v: "zürich-1" }, true],
    ["$.v == True", { v: true }, false],
    ["== on", "on", true],
    // Loosely equal.
    ['$.v == "42"', { v: 42 }, true],
    ["$.v == true", { v: "true" }, true],
    ['$.v != "true"', { v: true }, false],
    ["$.v == null", { v: "" }, true],
    ["$.v == false", { v: null }, false],
    ["$.v == 0", { v: null }, false],
    ["$.v != 1", { v: { a: 1 } }, true],
    ['$.v == "{}"', { v: {} }, false],
    // A bare value.
    ['== "on"', "on", true],
    ["!= 1", { a: 1 }, false],
    ["!= 1", [1], false],
    ["== null", null, true],
  ])("%s with %j: %s", (condition, payload, expected) => {
    expect(conditionHolds(condition, JSON.stringify(payload))).toBe(expected);
  });

  test.each(["", "{", "undefined", "NaN", "[1", "\u0000"])("%j is no JSON and fits nothing", (payload) => {
    expect(conditionHolds("$.a != 1", payload)).toBe(false);
    expect(conditionHolds("!= 1", payload)).toBe(false);
    expect(conditionHolds(" \t", payload)).toBe(true);
    expect(conditionHolds(undefined, payload)).toBe(true);
  });
});

describe("what is none", () => {
  test.each([
    ["hello", /begins with a path/],
    ["a == 1", /begins with a path/],
    ["$a == 1", /after the path/],
    ["$. == 1", /path is wrong/],
    ["$.a. == 1", /path is wrong/],
    ["$[-1] == 1", /path is wrong/],
    ["$[1 == 1", /path is wrong/],
    ["$[12345678901] == 1", /path is wrong/],
    ["$.a", /after the path/],
    ["$.a 1", /after the path/],
    ["$.a = 1", /written ==/],
    ["$.a =", /written ==/],
    ["$.a ==", /after the operator/],
    ["$.a === 1", /after the operator/],
    ['$.a == "open', /quote text/],
    ['$.a == "\\q"', /quote text/],
    ['$.a == o"pen', /quote text/],
    ["$.a == a=b", /quote text/],
    ["$.a == $.b", /quote text/],
    ["$.a == (a)", /quote text/],
    [`$.a == ${"a".repeat(257)}`, /quote text/],
    ["$.a == big word", /one comparison/],
    ["$ > 5", /no path.*> 5/],
    ["$ == 5", /no path/],
    [" $>5", /no path/],
    ["$.a == 1e999", /after the operator/],
    ["$.a == 0x10", /after the operator/],
    ["$.a == 1 && $.b == 2", /one comparison/],
    ['$.a == "x" y', /one comparison/],
  ])("%s", (condition, fault) => {
    expect(readCondition(condition)).toEqual({ fault: expect.stringMatching(fault) });
    expect(conditionHolds(condition, '{"a":1}')).toBe(false);
  });
});

describe("whatever is written", () => {
  const pieces = fc.constantFrom(
    "$",
    ".",
    "[",
    "]",
    '"',
    "'",
    "\\",
    ">=",
    "!=",
    "==",
    ">",
    "=",
    "a",
    "0",
    "9",
    "-",
    "e",
    " ",
    "null",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join("")),
  );

  test("it is true or false, and what is no condition is never met", () => {
    expect.hasAssertions();
    fc.assert(
      fc.property(text, fc.oneof(fc.json(), fc.string({ unit: "binary" }), fc.constant(null)), (condition, payload) => {
        const holds = conditionHolds(condition, payload);
        const read = readCondition(condition);
        const fixed = "fault" in read ? false : read.condition === "always" ? true : holds;
        expect(holds).toBe(fixed);
      }),
      { numRuns: cases(2000) },
    );
  });

  test("for a value that is there and has an order, one of <, == and > holds", () => {
    const numbers = fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((number) => (Object.is(number, -0) ? 0 : number));
    fc.assert(
      fc.property(numbers, numbers, (value, literal) => {
        const held = ["<", "==", ">"].filter((operator) =>
          conditionHolds(`$.v ${operator} ${literal}`, JSON.stringify({ v: value })),
        );
        expect(held).toHaveLength(1);
        expect(conditionHolds(`$.v != ${literal}`, JSON.stringify({ v: value }))).toBe(held[0] !== "==");
      }),
    );
  });

  test("any text in quotes is that text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        expect(conditionHolds(`$.v == ${JSON.stringify(value)}`, JSON.stringify({ v: value }))).toBe(true);
      }),
    );
  });

  // Were any of it read more than once, a million characters would take hours, and the test's own limit ends it.
  test.each([
    ["dots", `$${".a".repeat(500_000)} == 1`],
    ["brackets", `$${"[0]".repeat(300_000)} == 1`],
    ["an open bracket after another", `$${"[".repeat(1_000_000)}`],
    ["quotes", `$.a == ${'"'.repeat(1_000_000)}`],
    ["backslashes", `$.a == "${"\\".repeat(1_000_001)}`],
    ["digits", `$.a == ${"9".repeat(1_000_000)}`],
    ["blanks", `$.a${" ".repeat(1_000_000)}`],
    ["operators", `$.a ${">=".repeat(500_000)}`],
  ])("a million characters of %s", (_name, condition) => {
    expect(conditionHolds(condition, '{"a":1}')).toBe(false);
  });

  test.each([
    ["deep lists", "[".repeat(1_000_000)],
    ["a long text", JSON.stringify({ a: "1".repeat(1_000_000) })],
    ["blanks", " ".repeat(1_000_000)],
  ])("a payload of %s", (_name, payload) => {
    expect(conditionHolds("$.a > 1", payload)).toBe(false);
  });
});
