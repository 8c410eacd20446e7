// Names, lines and images are read and written as the conformance cases say.
import { aliasPrefixOf, boardKindOfVendor } from "@svc/kit/hardware";
import type { Json } from "@svc/contract";
import { vectorCases } from "@svc/testkit/vectors";
import { describe, expect, test } from "vitest";
import { decodeAnswer, encodeCommand } from "../src/dialect/json-lines.ts";
import { isUf2Block, looksLikeUf2 } from "../src/pico-flash.ts";

interface Board {
  readonly board?: string;
  readonly vid?: number;
}

describe("hardware.alias", () => {
  test.each(vectorCases<Board, Record<string, string | null>>("hardware.alias"))("$name", ({ input, expected }) => {
    const answer =
      input.board === undefined
        ? { kind: boardKindOfVendor(input.vid!) ?? null }
        : { prefix: aliasPrefixOf(input.board) };
    expect(answer).toEqual(expected);
  });
});

const wire = vectorCases("hardware.wire");

describe("hardware.wire", () => {
  test.each(wire.filter(({ input }) => typeof input === "string"))("$name", ({ input, expected }) => {
    const { ok, data, error } = decodeAnswer(input as string)!;
    const { result, ...rest } = expected as Record<string, Json>;
    const wanted = result === undefined ? rest : { ...rest, data: result };
    expect({ ok, ...(data !== undefined && { data }), ...(error !== undefined && { error }) }).toEqual(wanted);
  });

  test.each(wire.filter(({ input }) => typeof input !== "string"))("$name", ({ input, expected }) => {
    const { tool, ...values } = input as Record<string, Json>;
    const line = encodeCommand(tool as string, values);
    expect(line.endsWith("\n")).toBe(true);
    expect({ line_json: JSON.parse(line) as Json }).toEqual(expected);
  });
});

interface Image {
  readonly first_bytes_hex?: string;
  readonly block_hex_offsets?: Readonly<Record<string, string>>;
}

/** A block with these bytes, or only its beginning. */
function accepts({ first_bytes_hex: first, block_hex_offsets: offsets = {} }: Image, damage?: number): boolean {
  const block = Buffer.alloc(first === undefined ? 512 : first.length / 2);
  for (const [offset, hex] of Object.entries(first === undefined ? offsets : { 0: first })) {
    block.write(hex, Number(offset), "hex");
  }
  if (damage !== undefined) block[damage]! ^= 1;
  return first === undefined ? isUf2Block(block) : looksLikeUf2(block);
}

describe("hardware.uf2", () => {
  test.each(vectorCases<Image, { valid: boolean }>("hardware.uf2"))("$name", ({ input, expected }) => {
    expect(accepts(input)).toBe(expected.valid);
    const marks = Object.keys(input.block_hex_offsets ?? { 0: "" }).map(Number);
    expect(marks.filter((mark) => accepts(input, mark))).toEqual([]);
  });
});
