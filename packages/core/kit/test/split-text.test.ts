// A long answer in several messages: what a reader sees must be all there, in order, within the platform's limit.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitText } from "../src/index.ts";

const visible = (text: string): string => text.replaceAll(/\s/g, "");
const withoutFences = (text: string): string => text.replaceAll(/^```.*$/gm, "");

const prose = fc
  .array(
    fc.oneof(
      fc.constantFrom(". ", "! ", "\n", "\n\n", " ", "  ", "3.5", "e.g. x", "。", "👩‍👩‍👧", "🇩🇪", "é", "e\u0301", "\uD800"),
      fc.lorem({ maxCount: 4 }),
      fc.string({ unit: "binary", maxLength: 30 }),
    ),
    { maxLength: 60 },
  )
  .map((pieces) => pieces.join(""));

const fenced = fc
  .array(
    fc.oneof(
      fc.lorem({ maxCount: 8 }).map((text) => `${text}.\n`),
      fc
        .tuple(fc.constantFrom("", "js", "c++"), fc.array(fc.lorem({ maxCount: 6 }), { maxLength: 30 }))
        .map(([language, lines]) => `\`\`\`${language}\n${lines.map((line) => `  ${line}`).join("\n")}\n\`\`\`\n`),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

describe("whatever the text and the limit", () => {
  test("every part fits and shows something, and together they show all of it, in order", () => {
    fc.assert(
      fc.property(prose, fc.integer({ min: 2, max: 120 }), (text, maxChars) => {
        const parts = splitText(text, maxChars);
        expect(parts.filter((part) => part.length > maxChars || part.trim() === "")).toEqual([]);
        expect(visible(parts.join(""))).toBe(visible(text));
      }),
      { numRuns: cases(1_000) },
    );
  });

  test("no surrogate pair is cut", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme-composite", maxLength: 200 }),
        fc.integer({ min: 2, max: 30 }),
        (text, maxChars) => {
          expect(splitText(text, maxChars).filter((part) => !part.isWellFormed())).toEqual([]);
        },
      ),
    );
  });

  test("code blocks are whole in every part, and their lines are all there", () => {
    fc.assert(
      fc.property(fenced, fc.integer({ min: 200, max: 400 }), (text, maxChars) => {
        const parts = splitText(text, maxChars);
        expect(parts.filter((part) => part.length > maxChars || part.trim() === "")).toEqual([]);
        const openOnes = parts.filter((part) => (part.match(/^```/gm) ?? []).length % 2 === 1);
        expect(openOnes).toEqual([]);
        expect(visible(withoutFences(parts.join("\n")))).toBe(visible(withoutFences(text)));
      }),
      { numRuns: cases(1_000) },
    );
  });

  test("hostile texts take no longer than long ones", () => {
    for (const unit of ["\n ", "```", "```\n", ". ", "a", "　", "e\u0301", "👩‍👧", "> ```js\n"]) {
      const text = unit.repeat(Math.ceil(200_000 / unit.length));
      expect(visible(withoutFences(splitText(text, 4096).join("\n"))).length).toBeLessThanOrEqual(text.length);
    }
  });
});

describe("where it is cut", () => {
  test("a text that fits is left alone; of a blank one nothing is left", () => {
    expect(splitText("  as it is\n", 11)).toEqual(["  as it is\n"]);
    expect([splitText("", 10), splitText(" \n ", 10), splitText(" ".repeat(99), 10)]).toEqual([[], [], []]);
  });

  test.each<[string, string, number, string[]]>([
    ["after a sentence", "First one. Second one. Third.", 24, ["First one. Second one.", "Third."]],
    ["after its quotation mark", 'He said "no." And then he left us.', 20, ['He said "no."', "And then he left us."]],
    ["not in a number or a name", "It is 3.5 at example.org today", 18, ["It is 3.5 at", "example.org today"]],
    ["after a line", "one two three\nfour five six seven", 20, ["one two three", "four five six seven"]],
    ["after a word", "one two three four", 10, ["one two", "three four"]],
    ["where a full part ends at a space", "0123456789 abc", 10, ["0123456789", "abc"]],
    ["in a word, where there is nothing else", "abcdefghij", 4, ["abcd", "efgh", "ij"]],
    ["not in a family", "👩‍👩‍👧👩‍👩‍👧", 10, ["👩‍👩‍👧", "👩‍👩‍👧"]],
    ["not between a letter and its accent", "abe\u0301cd", 3, ["ab", "e\u0301c", "d"]],
    ["after an ideographic full stop", "これは文です。次の文です。", 8, ["これは文です。", "次の文です。"]],
    [
      "near its end rather than after a first short sentence",
      `No. ${"word ".repeat(10).trim()}`,
      30,
      ["No. word word word word word", "word word word word word"],
    ],
  ])("%s", (_, text, maxChars, parts) => expect(splitText(text, maxChars)).toEqual(parts));

  test("the indentation of the next line stays, blank lines go", () => {
    expect(splitText("def f():\n\n\n    return 1", 14)).toEqual(["def f():", "    return 1"]);
  });

  test("a code block is closed and opened again with its language", () => {
    const line = `${"x".repeat(58)}\n`;
    const [first, second, ...rest] = splitText(`Look:\n\`\`\`js\n${line.repeat(4)}\`\`\`\nDone.`, 200);
    expect(first).toBe(`Look:\n\`\`\`js\n${line.repeat(3)}\`\`\``);
    expect(second).toBe(`\`\`\`js\n${line}\`\`\`\nDone.`);
    expect(rest).toEqual([]);
  });

  test("one that would begin at the end of a part begins with the next", () => {
    const text = `${"word ".repeat(37).trim()}\n\`\`\`js\n${"y".repeat(150)}\n\`\`\``;
    expect(splitText(text, 200)).toEqual(["word ".repeat(37).trim(), `\`\`\`js\n${"y".repeat(150)}\n\`\`\``]);
  });

  test("fences of another form are text", () => {
    const text = `~~~\n${"word ".repeat(60)}\n~~~`;
    expect(splitText(text, 200).join("")).not.toContain("```");
  });

  test("too small a limit is a mistake of the caller's", () => {
    for (const limit of [1, 0, -1, 2.5, Number.NaN]) expect(() => splitText("text", limit)).toThrow(RangeError);
  });
});
