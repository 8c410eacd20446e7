// Pieces with places come out in the order in which people read, whatever order they were written in.
import { expect, test } from "vitest";
import { layOut, type Piece } from "../src/lay-out.ts";

/** A piece of ten units' height; each character is five wide. */
const at = (left: number, baseline: number, text: string, more: Partial<Piece> = {}): Piece => ({
  text,
  gapBefore: true,
  left,
  right: left + text.length * 5,
  top: baseline - 10,
  bottom: baseline,
  size: 10,
  isLevel: true,
  ...more,
});

test("words of a line, with a space only where there was a gap", () => {
  expect(layOut([at(0, 10, "light"), at(25, 10, "house", { gapBefore: false }), at(55, 10, "keeper")])).toBe(
    "lighthouse keeper",
  );
});

test("a raised figure stays on the line of its word", () => {
  expect(layOut([at(0, 20, "sea"), at(15, 17, "1", { gapBefore: false, size: 6, top: 11 })])).toBe("sea1");
});

test("what was written last and lies above goes first, a foot written first goes last", () => {
  const pieces = [at(0, 300, "foot"), at(0, 100, "middle"), at(0, 20, "head")];
  expect(layOut(pieces)).toBe("head\n\nmiddle\n\nfoot");
});

test("columns that were written one after the other stay so", () => {
  const pieces = [at(0, 20, "one"), at(0, 32, "two"), at(200, 20, "three"), at(200, 32, "four")];
  expect(layOut(pieces)).toBe("one\ntwo\n\nthree\nfour");
});

test("running text in two columns that was written row by row is taken apart, a table is not", () => {
  const rows = (left: string, right: string) =>
    [20, 32, 44, 56].flatMap((y, n) => [at(0, y, `${left}${n}`), at(300, y, `${right}${n}`)]);
  expect(layOut(rows("a line of running text ", "another of such lines "))).toMatch(
    /^a line.*0\n[^]*3\n\nanother.*0\n/,
  );
  expect(layOut(rows("oak ", "elm "))).toBe("oak 0  elm 0\noak 1  elm 1\noak 2  elm 2\noak 3  elm 3");
});

test("bullets that were written after all of their lines stand before them", () => {
  const pieces = [at(20, 20, "the first of them"), at(20, 32, "the second one"), at(5, 20, "•"), at(5, 32, "•")];
  expect(layOut(pieces)).toBe("• the first of them\n• the second one");
});

test("a word parted at the end of a line is made whole, a compound name is not touched", () => {
  expect(layOut([at(0, 20, "some forty centi-"), at(0, 32, "metres")])).toBe("some forty centimetres");
  expect(layOut([at(0, 20, "from A-"), at(0, 32, "B")])).toBe("from A-\nB");
});

test("no pieces are no text, and equal places end", () => {
  expect(layOut([])).toBe("");
  expect(layOut(Array.from({ length: 50 }, () => at(0, 10, "x"))).match(/x/g)).toHaveLength(50);
});
