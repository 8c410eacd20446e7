// A paragraph that is torn, or a code block that is cut, because of how the pieces of a text came.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Paragraphs } from "../src/paragraphs.ts";

describe("paragraphs", () => {
  const of = (...pieces: string[]): string[] => {
    const found: string[] = [];
    const paragraphs = new Paragraphs();
    for (const piece of pieces) paragraphs.push(piece, (paragraph) => found.push(paragraph));
    return [...found, paragraphs.rest()];
  };

  test.each<[string, string[]]>([
    ["one\ntwo\n\nthree", ["one\ntwo", "three"]],
    ["one\n \t\n\n\n  two\r\n\r\n", ["one", "  two", ""]],
    ["\n\none", ["one"]],
    ["a\n```js\nx\n\ny\n```\nb\n\nc", ["a\n```js\nx\n\ny\n```\nb", "c"]],
    ["````\n```\n\n```\n````\n\nc", ["````\n```\n\n```\n````", "c"]],
    ["~~~\n```\n\n~~~\n\nc", ["~~~\n```\n\n~~~", "c"]],
    ["```\nnever closed\n\nc", ["```\nnever closed\n\nc"]],
    ["```one line```\n\nc", ["```one line```", "c"]],
    ["```\n``` js\n\n```\n\nc", ["```\n``` js\n\n```", "c"]],
    ["- a\n\n  ```\n  x\n\n  y\n  ```\n\nc", ["- a", "  ```\n  x\n\n  y\n  ```", "c"]],
  ])("%j", (text, expected) => {
    expect(of(text)).toEqual(expected);
    expect(of(...text)).toEqual(expected);
  });

  test("are the same in whatever pieces they come, and hold every line that is not blank", () => {
    const line = fc.constantFrom("word", "", " ", "```", "```js", "~~~", "  text", "````");
    const cuts = fc.array(fc.nat(40), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), cuts, (lines, at) => {
        const text = lines.join("\n");
        const ends = [...at.filter((cut) => cut < text.length).toSorted((a, b) => a - b), text.length];
        const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
        expect(of(...pieces)).toEqual(of(text));
        const full = (all: readonly string[]) =>
          all
            .join("\n")
            .split("\n")
            .filter((one) => one.trim() !== "");
        expect(full(of(text))).toEqual(full(lines));
      }),
    );
  });
});
