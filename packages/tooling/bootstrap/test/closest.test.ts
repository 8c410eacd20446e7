// "Did you mean" must help with a slip of the finger and keep quiet about a word that is merely as short.
import { expect, test } from "vitest";
import { closest } from "../closest.mjs";

const flags = ["--minimal", "--standard", "--full", "--with", "--without"];

test.each([
  ["--stnadard", "--standard"],
  ["--FULL", "--full"],
  ["--withuot", "--without"],
  ["-full", "--full"],
  ["--verbose", undefined],
  ["everything", undefined],
  ["", undefined],
])("%j: %j", (given, meant) => {
  expect(closest(given, flags)).toBe(meant);
});
