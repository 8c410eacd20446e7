// Pages as people write them: in order, each once, and nothing taken for pages that says none.
import { expect, test } from "vitest";
import { asRanges, pageRanges } from "../src/pdf.ts";

test.each([
  ["1", [[1, 1]]],
  [
    "1-3,7",
    [
      [1, 3],
      [7, 7],
    ],
  ],
  [
    " 7 , 1 - 3 ",
    [
      [1, 3],
      [7, 7],
    ],
  ],
  [
    "5-,2",
    [
      [2, 2],
      [5, null],
    ],
  ],
  ["1-4,2-3,4-6,7", [[1, 7]]],
  ["3-,1-5,9", [[1, null]]],
])("%j", (text, ranges) => expect(pageRanges(text)).toEqual(ranges));

test.each(["", "0", "0-3", "3-1", "-3", "1,", ",1", "1;2", "1.5", "1e3", "a", "1--2", "99999999"])(
  "%j says none",
  (text) => expect(pageRanges(text)).toBeUndefined(),
);

test.each([
  [[], ""],
  [[3], "3"],
  [[3, 4, 5, 9], "3-5, 9"],
])("%j is told as %j", (pages, text) => expect(asRanges(pages)).toBe(text));
