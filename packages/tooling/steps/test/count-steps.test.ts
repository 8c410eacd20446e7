// A test that takes the time of a reader fails on a busy machine. This counts what it does, and must count what really happens.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countSteps, worstGrowth } from "../src/count-steps.ts";

const growthOf = (read: (text: string) => unknown, text: (size: number) => string): number =>
  countSteps(() => read(text(4_00))) / countSteps(() => read(text(1_00)));

describe("a regular expression", () => {
  test.each<[string, RegExp, (size: number) => string, number]>([
    ["that is linear", /^[ \t]+/, (size) => " ".repeat(size), 4],
    ["that is quadratic", /[ \t]+$/, (size) => `${" ".repeat(size)}a`, 16],
    ["with a quoted string that is never closed", /"(?:[^"\\]|\\.)*"/g, (size) => '"\\'.repeat(size), 16],
    ["that is cubic", /a*a*a*b/, (size) => "a".repeat(size / 4), 256],
  ])("%s grows as it does", (_name, regex, text, times) => {
    const growth = growthOf((one) => one.replace(regex, ""), text);
    expect(growth).toBeGreaterThan(times * 0.7);
    expect(growth).toBeLessThan(times * 1.2);
  });

  test("runs as it does without being counted, whatever it is", () => {
    const regexes = [
      /(a|ab)(c|bcd)(d*)/,
      /^(?:[^"\\]|\\[^])*("|\\?$)/g,
      /(?<=a)b(?!c)/g,
      /(?<!\\)\|\s*$/m,
      /(['"])[^]*?\1/gi,
      /\bA{2,3}?b?\b/gi,
      /[\p{L}--[ab]]+/v,
      /^.\u{1f469}?.$/su,
      /(?:a*)*b|(?:)/y,
      /(?<year>\d{2,})-\k<year>/,
      /a|^|$|\B/gm,
    ];
    const piece = fc.constantFrom("a", "b", "c", "d", "A", '"', "'", "\\", "|", " ", "\n", "12", "-", "\u{1f469}");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.constantFrom(...regexes), (pieces, regex) => {
        const text = pieces.join("");
        const results = () => [text.replace(regex, "<$&>"), text.split(regex), text.search(regex), text.match(regex)];
        regex.lastIndex = 0;
        const real = results();
        regex.lastIndex = 0;
        let counted: unknown;
        countSteps(() => (counted = results()));
        expect(counted).toEqual(real);
      }),
      { numRuns: cases(1_000) },
    );
  });
});

test("methods of strings and arrays count what they look at", () => {
  const text = "a".repeat(100);
  expect(countSteps(() => text.indexOf("b"))).toBe(101);
  expect(countSteps(() => text.indexOf("a", 50))).toBe(1);
  expect(countSteps(() => `${text}  `.trimEnd())).toBe(3);
  expect(countSteps(() => text.split(""))).toBe(101);
  expect(countSteps(() => [...text].map((one) => one.charCodeAt(0)))).toBe(201);
  expect(countSteps(() => {})).toBe(0);
});

test("the worst growth is found, with the text that shows it", () => {
  expect(worstGrowth((text) => text.trim().split(";")).times).toBeLessThan(5);
  const slow = worstGrowth((text) => {
    for (let rest = text; rest.includes("<"); rest = rest.slice(1)) rest.indexOf(">");
  });
  expect([slow.times > 10, slow.text]).toEqual([true, expect.stringContaining("<")]);
});

test("prototypes are as before, also after a reader that throws", () => {
  const before = [RegExp.prototype.exec, String.prototype.indexOf, Array.prototype.map];
  expect(() =>
    countSteps(() => {
      throw new Error("refused");
    }),
  ).toThrow("refused");
  expect([RegExp.prototype.exec, String.prototype.indexOf, Array.prototype.map]).toEqual(before);
});
