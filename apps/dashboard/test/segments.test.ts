// A growing answer is parsed in segments. A cut at the wrong position would render another text than the whole one.
import { cases } from "@svc/cases";
import { type Block, readMarkdown } from "@svc/kit/markdown";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { segmentsOf } from "../src/components/markdown.tsx";

const PARAGRAPH = `${"Some words of an answer, with **bold** ones and _other_ ones. ".repeat(8)}\n`;

/** How far the blocks stand apart is the style sheet's. */
const blocksOf = (texts: readonly string[]): unknown[] =>
  texts.flatMap((text) => readMarkdown(text).map((block: Block) => ({ ...block, gap: 0 })));

const PIECES = [
  PARAGRAPH,
  "\n",
  "\n\n",
  "# A heading\n",
  "- one\n- two\n",
  "\n  belongs to two\n",
  "1. first\n\n2. second\n",
  "```ts\nconst a = 1;\n\n",
  "```\n",
  "~~~\n",
  "- ```sh\n",
  "    ````\n",
  "> said\n",
  "| a | b |\n| - | - |\n| 1 | 2 |\n",
  "---\n",
  "* * *\n",
  "**never closed\n",
  "`x ``` y`\n",
  "[a][1]\n",
];

test("joined segments are the text, and parse alone as within it", () => {
  const texts = fc
    .array(fc.constantFrom(...PIECES), { minLength: 10, maxLength: 60 })
    .map((pieces) => pieces.join(""))
    // Of a text that is longer, the reader leaves the rest as it stands.
    .filter((text) => text.length <= 32_000);
  fc.assert(
    fc.property(texts, (text) => {
      const segments = segmentsOf(text);
      expect(segments.join("")).toBe(text);
      expect(blocksOf(segments)).toEqual(blocksOf([text]));
    }),
    { numRuns: cases(300) },
  );
});

test("segments stay the same while the text grows, except the last", () => {
  const text = `${PARAGRAPH}\n`.repeat(60);
  const whole = segmentsOf(text);
  expect(whole.length).toBeGreaterThan(5);
  for (let end = 0; end <= text.length; end += 97) {
    const segments = segmentsOf(text.slice(0, end));
    expect(segments.slice(0, -1)).toEqual(whole.slice(0, segments.length - 1));
  }
});

test.each([
  ["a code block", "```ts\n", "\nconst a = 1;\n", "```\n"],
  ["a code block of tildes around others", "~~~~\n", "\n```\n\n~~~\n", "~~~~\n"],
  ["a code block of an item", "- ```\n", "\n  a\n", "  ```\n"],
  ["a list", "- one\n", "\n- two\n", "- three\n"],
])("%s is never split", (_, begin, line, end) => {
  const whole = begin + line.repeat(1_000) + end;
  const segments = segmentsOf(`${PARAGRAPH.repeat(8)}\n${whole}\n${PARAGRAPH}`);
  expect(segments.filter((segment) => segment.includes(whole))).toHaveLength(1);
  expect(segments.length).toBeGreaterThan(1);
});

test("a text with a link definition is one segment", () => {
  const text = `[the notes][1]\n\n${`${PARAGRAPH}\n`.repeat(20)}[1]: https://notes.example/1\n`;
  expect(segmentsOf(text)).toEqual([text]);
});
