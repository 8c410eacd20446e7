// The measure that the corpus is judged by tells what is the same, what is not, and what is in another order.
import { expect, test } from "vitest";
import { similarity, wordsOf } from "./similarity.ts";

test.each([
  ["a b c", "a  b\nc", 1],
  ["", " ", 1],
  ["a b", "c d", 0],
  ["a b c d", "b a c d", 0.75],
  ["a b", "a b c d", 2 / 3],
  ["ﬁsh\u200F", "fish", 1],
])("%s is to %s as %d", (one, other, expected) => {
  expect(similarity(wordsOf(one), wordsOf(other))).toBeCloseTo(expected);
});
