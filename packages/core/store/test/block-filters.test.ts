// A filter that denies an id that is there is a message answered twice.
import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { BLOCK_SIZE, BlockFilters, filterOf } from "../src/messages/dedupe.ts";

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
const digest = (text: string): string => hash("sha256", text, "latin1").slice(0, 16);
const digests = (block: number): string[] => range(0, BLOCK_SIZE).map((n) => digest(`${block}:${n}`));
const candidates = (filters: BlockFilters, one: string): number[] => {
  const found: number[] = [];
  filters.some(one, (block) => (found.push(block), false));
  return found;
};

test("filters always name the block that holds a digest, and seldom another", () => {
  const filters = new BlockFilters();
  // More than one group of them.
  for (const block of range(100, 135)) filters.add(block, filterOf(digests(block)));
  for (const block of [100, 132, 134]) {
    for (const one of digests(block)) expect(candidates(filters, one)).toContain(block);
  }
  const wrong = range(0, 5000).map((n) => candidates(filters, digest(`stranger ${n}`)).length);
  expect(wrong.reduce((sum, n) => sum + n, 0) / (5000 * 35)).toBeLessThan(1 / 5000);
});

test("a block that is removed is named no more, and its place is taken by the next", () => {
  const filters = new BlockFilters();
  for (const block of [1, 2, 3]) filters.add(block, filterOf(digests(block)));
  filters.remove(2);
  filters.remove(7);
  filters.add(9, filterOf(digests(9)));
  const named = (block: number): number[] => [...new Set(digests(block).flatMap((one) => candidates(filters, one)))];
  expect(named(2)).not.toContain(2);
  for (const block of [1, 3, 9]) expect(named(block)).toContain(block);
});

test("filters stop at the first block that holds it", () => {
  const filters = new BlockFilters();
  filters.add(1, filterOf(["0123456789abcdef"]));
  filters.add(2, filterOf(["0123456789abcdef"]));
  const asked: number[] = [];
  expect(filters.some("0123456789abcdef", (block) => asked.push(block) > 0)).toBe(true);
  expect(asked).toEqual([1]);
});
