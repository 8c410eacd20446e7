// Markdown of a model that the platform would show as its marks, and a block of code that is torn apart.
import { cases } from "@svc/cases";
import { fenceLeftOpen, splitText } from "@svc/kit";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatted, TEXT_CHARS } from "../src/format.ts";

describe("a table", () => {
  const TABLE = "| Name | Size |\n|:-----|-----:|\n| a | 1 |\n| **bold** \\| `x` | 22 |";

  test("is a block of code in which its columns stand in line", () => {
    expect(formatted(`Look:\n\n${TABLE}\n\nDone.`)).toBe(
      "Look:\n\n```\nName      Size\n--------  ----\na         1\nbold | x  22\n```\n\nDone.",
    );
  });

  test("counts characters of two columns as two", () => {
    expect(formatted("| a | b |\n|---|---|\n| 日本 | 1 |\n| 👩‍👩‍👧 | 2 |")).toBe(
      "```\na     b\n----  -\n日本  1\n👩‍👩‍👧    2\n```",
    );
  });

  test.each([
    ["in a block of code", `\`\`\`md\n${TABLE}\n\`\`\``],
    ["without its rule", "| a | b |\n| c | d |\n| e | f |"],
    ["with a fence in it", "| a | b |\n|---|---|\n| ``` | d |"],
    ["of one row", "| a | b |\n|---|---|"],
  ])("%s stays as it is", (_, text) => {
    expect(formatted(text)).toBe(text);
  });

  test("that has no room for that stays as it is", () => {
    const text = `| a | b |\n|---|---|\n| ${"x".repeat(150)} | y |\n${"| c | d |\n".repeat(40)}`;
    expect(formatted(text)).toBe(text);
  });
});

test.each([
  ["#### Deep", "**Deep**"],
  ["###### Deep **er** ##", "Deep **er**"],
  ["### Fine", "### Fine"],
  ["####no heading", "####no heading"],
  ["![a cat](https://example.org/cat.png)", "[a cat](https://example.org/cat.png)"],
  ["![](https://example.org/cat.png)", "https://example.org/cat.png"],
  ["```\n#### code\n```", "```\n#### code\n```"],
  ["~~~\n#### code\n~~~", "~~~\n#### code\n~~~"],
  ["a \uD800 b", "a \uFFFD b"],
])("%j is shown as %j", (text, shown) => {
  expect(formatted(text)).toBe(shown);
});

test.each([
  ["Look:\n```js\nconst a = 1;", "Look:\n```js\nconst a = 1;\n```"],
  ["```js\n", "```js\n```"],
  ["```\na\n```", "```\na\n```"],
])("a block that is open, %j, is closed", (text, shown) => {
  expect(formatted(text)).toBe(shown);
});

const line = fc.oneof(
  fc.string({ maxLength: 60 }).map((text) => text.replaceAll(/[\n\r`~]/g, "")),
  fc.constantFrom(
    "| a | b |",
    "|---|---|",
    "#### Deep",
    "",
    "> quoted",
    "1. one",
    "- item",
    "![x](https://e.org/a.png)",
  ),
  fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll(/[\n\r`~]/g, "")),
);
const block = fc.record({ language: fc.constantFrom("", "js", "python"), lines: fc.array(line, { maxLength: 60 }) });
const answer = fc
  .array(
    fc.oneof(
      fc.array(line, { maxLength: 20 }).map((lines) => lines.join("\n")),
      block.map(({ language, lines }) => `\`\`\`${language}\n${lines.join("\n")}\n\`\`\``),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join("\n\n"));

test("an answer of any length comes in messages that the platform takes, each with its blocks whole", () => {
  fc.assert(
    fc.property(answer, (text) => {
      for (const part of splitText(text, TEXT_CHARS).map(formatted)) {
        expect(part.length).toBeLessThanOrEqual(TEXT_CHARS);
        expect(fenceLeftOpen(part)).toBe("");
        expect((part.match(/^```/gm) ?? []).length % 2).toBe(0);
      }
    }),
    { numRuns: cases(300) },
  );
});

test("no words are lost", () => {
  const words = (of: string): string[] => of.match(/[a-z0-9]+/gi) ?? [];
  const short = answer.filter((text) => text.length <= TEXT_CHARS);
  const property = fc.property(short, (text) => {
    const shown = new Set(words(formatted(text)));
    return words(text.toWellFormed()).every((word) => shown.has(word));
  });
  expect(fc.check(property, { numRuns: cases(300) }).counterexample).toBeNull();
});
