// A code that a phone can't read at a terminal verifies nothing.
import { encode } from "uqr";
import { expect, test } from "vitest";
import { qrText } from "../src/commands/channels.ts";

const BLOCKS: Readonly<Record<string, readonly [upper: string, lower: string]>> = {
  "█": ["0", "0"],
  "▀": ["0", "1"],
  "▄": ["1", "0"],
  " ": ["1", "1"],
};

test("draws every module of a code, with a light margin, two rows in a line", () => {
  const { data, size } = encode("MATRIX and some bytes", { border: 0 });
  const rows = data.map((row) => row.map((isDark) => (isDark ? "1" : "0")).join(""));
  const lines = qrText(rows).split("\n");
  const drawn = lines.flatMap((line) => {
    const blocks = Array.from(line.slice(2), (block) => BLOCKS[block]!);
    return [blocks.map(([upper]) => upper).join(""), blocks.map(([, lower]) => lower).join("")];
  });
  expect(drawn.slice(2, 2 + size).map((row) => row.slice(2, -2))).toEqual(rows);
  for (const margin of [...drawn.slice(0, 2), ...drawn.slice(2 + size, 4 + size)]) expect(margin).toMatch(/^0+$/);
  for (const row of drawn.slice(2, 2 + size)) expect(row.slice(0, 2) + row.slice(-2)).toBe("0000");
});
