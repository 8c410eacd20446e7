// An image that is cut, mixed up, damaged or for another chip is refused whole.
import { describe, expect, test } from "vitest";
import { checkUf2 } from "../src/pico-flash.ts";
import { uf2 } from "./uf2-image.ts";

describe("an image", () => {
  test.each([
    ["for the RP2040", uf2({ blocks: 3 }), ["RPI-RP2"]],
    ["for the RP2350", uf2({ blocks: 2, family: 0xe48bff59 }), ["RP2350"]],
    [
      "for the RP2350, with its absolute block",
      Buffer.concat([uf2({ blocks: 1, family: 0xe48bff57 }), uf2({ blocks: 2, family: 0xe48bff59 })]),
      ["RP2350"],
    ],
  ])("%s is taken", (_, image, takers) => {
    expect(checkUf2(image)).toEqual(takers);
  });

  const swapped = Buffer.concat([uf2({ blocks: 2 }).subarray(512), uf2({ blocks: 2 }).subarray(0, 512)]);
  test.each([
    ["that is empty", Buffer.alloc(0), "not a UF2 file"],
    ["of another kind", Buffer.from("\x7fELF".padEnd(512)), "not a UF2 file"],
    ["cut in a block", uf2({ blocks: 2 }).subarray(0, 700), "not a whole one"],
    ["cut between blocks", uf2({ blocks: 3 }).subarray(0, 1024), "blocks are missing"],
    ["with blocks out of order", swapped, "out of order"],
    ["with a damaged block", uf2({ blocks: 2 }).fill(0, 512 + 508, 512 + 512), "block 1 has not the marks"],
    ["for an ESP32", uf2({ blocks: 1, family: 0x1c5f21b0 }), "another chip (family 0x1c5f21b0)"],
    ["for two chips", Buffer.concat([uf2({ blocks: 1 }), uf2({ blocks: 1, family: 0xe48bff59 })]), "out of order"],
    ["without a family", uf2({ blocks: 1, flags: 0 }), "for which chip"],
    ["with a block that claims too much", uf2({ blocks: 1, payload: 477 }), "too many bytes"],
    ["of the absolute block alone", uf2({ blocks: 1, family: 0xe48bff57 }), "blocks are missing"],
  ])("%s is refused", (_, image, message) => {
    expect(() => checkUf2(image)).toThrow(message);
  });
});
