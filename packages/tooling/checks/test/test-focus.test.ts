// A focused test silences the others; a skip without a reason silences one for ever.
import { expect, test } from "vitest";
import { testFocus } from "../src/checks/test-focus.ts";
import { judge } from "./judge.ts";

const file = "packages/core/kit/test/a.test.ts";

test.each([
  ["test.only('x', () => {});", "A focused test."],
  ["describe.concurrent.only('x', () => {});", "A focused test."],
  ["test.skip('x', () => {});", ".skip without a reason."],
  ["it.todo('x');", ".todo without a reason."],
  ["test.skipIf(root)('x', () => {});", ".skipIf without a reason."],
  ["test.skip.each([1])('x', () => {});", ".skip without a reason."],
  ["test('x', (context) => { context.skip(); });", "skip() without a reason."],
  ["test('x', (context) => { context.skip(true); });", "skip() without a reason."],
])("%s", (text, message) => {
  expect(judge(testFocus, { [file]: `\n\n${text}` })).toEqual([`${file}:3 ${message}`]);
});

test.each([
  "test.skipIf(!supported)('x', { meta: { skipReason: 'needs user namespaces' } }, () => {});",
  "test('x', (context) => { context.skip(!supported, 'needs user namespaces'); });",
  "test('x', () => { iterator.skip(); list.only = 1; });",
])("%s", (text) => {
  expect(judge(testFocus, { [file]: text })).toEqual([]);
});
