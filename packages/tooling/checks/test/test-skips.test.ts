// A skip without a reason silences a test for ever.
import { expect, test } from "vitest";
import { testSkips } from "../src/checks/test-skips.ts";
import { judge } from "./judge.ts";

const file = "packages/core/kit/test/a.test.ts";

test.each([
  ["test.skip('x', () => {});", ".skip without a reason."],
  ["it.todo('x');", ".todo without a reason."],
  ["test.skipIf(root)('x', () => {});", ".skipIf without a reason."],
  ["test.skip.each([1])('x', () => {});", ".skip without a reason."],
  ["test('x', (context) => { context.skip(); });", "skip() without a reason."],
  ["test('x', (context) => { context.skip(true); });", "skip() without a reason."],
])("%s", (text, message) => {
  expect(judge(testSkips, { [file]: `\n\n${text}` })).toEqual([`${file}:3 ${message}`]);
});

test.each([
  "test.skipIf(!supported)('x', { meta: { skipReason: 'needs user namespaces' } }, () => {});",
  "test('x', (context) => { context.skip(!supported, 'needs user namespaces'); });",
  "test('x', () => { iterator.skip(); });",
])("%s", (text) => {
  expect(judge(testSkips, { [file]: text })).toEqual([]);
});
