/** Exists for the 15 ms that 100 000 open brackets hold everybody else up, and for texts that only look deep. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_JSON_DEPTH, parseJson, readJson } from "../src/index.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (levels: number, [open, close]: readonly [string, string], inside = "1"): string =>
  open.repeat(levels) + inside + close.repeat(levels);
const LISTS = ["[", "]"] as const;
const OBJECTS = ['{"a":', "}"] as const;

describe("parseJson", () => {
  test("is JSON.parse for whatever a program would send", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(4), (value, indent) => {
        expect(parseJson(bytes(JSON.stringify(value, undefined, indent)))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test.each([
    ["lists", LISTS],
    ["objects", OBJECTS],
  ] as const)("%s: as deep as the limit, and not one level more", (_, brackets) => {
    expect(parseJson(bytes(nested(MAX_JSON_DEPTH, brackets)))).toBeDefined();
    expect(parseJson(bytes(nested(MAX_JSON_DEPTH + 1, brackets)))).toBeUndefined();
    expect(parseJson(bytes(brackets[0].repeat(100_000)))).toBeUndefined();
  });

  test("what comes one after the other is not deep, nor is a text full of brackets", () => {
    const wide = Array.from({ length: 500 }, () => ["x", { y: [] }]);
    const text = { message: `${"[{".repeat(500)}\\"${'\\"['.repeat(500)}` };
    for (const value of [wide, text]) expect(parseJson(bytes(JSON.stringify(value)))).toEqual(value);
  });

  test.each([
    ["nothing", bytes("")],
    ["half", bytes('{"a":')],
    ["two", bytes("1 2")],
    ["no UTF-8", Uint8Array.of(0x22, 0xff, 0x22)],
    ["half a surrogate pair in bytes", Buffer.from('"\xed\xa0\x80"', "latin1")],
    ["a character in more bytes than it takes", Buffer.from('"\xc0\xaf"', "latin1")],
    ["a byte order mark", bytes("\uFEFF{}")],
    ["UTF-16", new Uint8Array(Buffer.from('{"a":1}', "utf16le"))],
  ])("%s is no value", (_, text) => {
    expect(parseJson(text)).toBeUndefined();
    expect(() => readJson(text)).toThrow(expect.objectContaining({ code: "BAD_JSON" }));
  });

  test("null is a value", () => expect(readJson(bytes("null"))).toBeNull());

  test("a piece of a larger buffer is read alone", () => {
    expect(parseJson(bytes('xx{"a":1}yy').subarray(2, 9))).toEqual({ a: 1 });
  });
});
