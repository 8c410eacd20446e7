/** UF2 firmware images: https://github.com/microsoft/uf2. What does not fit is refused before a byte of it is written. */
import { SvcError } from "@svc/contract";

const BLOCK_BYTES = 512;
const MAGIC_START_0 = 0x0a324655;
const MAGIC_START_1 = 0x9e5d5157;
const MAGIC_END = 0x0ab16f30;
const MOST_PAYLOAD_BYTES = 476;
const HAS_FAMILY = 0x2000;
/** Blocks that go to no flash of the program: they come first in images for the RP2350 (erratum RP2350-E10). */
const ABSOLUTE = 0xe48bff57;

/** Families of pico-sdk's uf2.h, by the boot loader's Board-ID. */
const FAMILIES: Readonly<Record<string, readonly number[]>> = {
  "RPI-RP2": [0xe48bff56],
  RP2350: [0xe48bff59, 0xe48bff5a, 0xe48bff5b],
};

export const knownBootLoaders: readonly string[] = Object.keys(FAMILIES);

/** By its first four bytes. */
export const looksLikeUf2 = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32LE(0) === MAGIC_START_0;

/** By the marks at its beginning and its end. */
export const isUf2Block = (block: Buffer): boolean =>
  block.length === BLOCK_BYTES &&
  looksLikeUf2(block) &&
  block.readUInt32LE(4) === MAGIC_START_1 &&
  block.readUInt32LE(508) === MAGIC_END;

/**
 * The boot loaders that take this image.
 * @throws SvcError FIRMWARE_INVALID, with the error and its position.
 */
export function checkUf2(image: Buffer): readonly string[] {
  if (image.length === 0 || image.length % BLOCK_BYTES !== 0 || !looksLikeUf2(image)) {
    throw invalid("it is not a UF2 file, or not a whole one");
  }
  const families = new Set<number>();
  let expected = 0;
  let total: number | undefined;
  for (let at = 0; at < image.length; at += BLOCK_BYTES) {
    const block = image.subarray(at, at + BLOCK_BYTES);
    const number = at / BLOCK_BYTES;
    if (!isUf2Block(block)) throw invalid(`block ${number} has not the marks of UF2`);
    if (block.readUInt32LE(16) > MOST_PAYLOAD_BYTES) throw invalid(`block ${number} claims to hold too many bytes`);
    if ((block.readUInt32LE(8) & HAS_FAMILY) === 0) throw invalid(`block ${number} does not say for which chip it is`);
    const family = block.readUInt32LE(28);
    if (family === ABSOLUTE) continue;
    families.add(family);
    total ??= block.readUInt32LE(24);
    if (block.readUInt32LE(20) !== expected || block.readUInt32LE(24) !== total) {
      throw invalid(`block ${number} is out of order, or blocks are missing`);
    }
    expected += 1;
  }
  if (families.size === 0 || expected !== total) throw invalid("blocks are missing");
  const takers = knownBootLoaders.filter((id) => [...families].every((family) => FAMILIES[id]!.includes(family)));
  if (takers.length > 0) return takers;
  const ids = [...families].map((family) => `0x${family.toString(16).padStart(8, "0")}`).join(", ");
  throw invalid(`it is for another chip (family ${ids}), not for an RP2040 or RP2350`);
}

const invalid = (why: string): SvcError =>
  new SvcError("FIRMWARE_INVALID", `The firmware can't be used: ${why}. Nothing was written.`, {
    hint: "Take the UF2 file for your board from https://micropython.org/download/.",
  });
