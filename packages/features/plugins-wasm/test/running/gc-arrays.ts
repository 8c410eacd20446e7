/** A module whose memory is none that a module declares: arrays that the engine collects, and that are all still in use. */
const MEGABYTE = 1_000_000;

/**
 * Makes `count` arrays of a megabyte, each of which holds the next, and then goes on for ever. Written in bytes, as wabt knows
 * no arrays: https://webassembly.github.io/spec/core/binary/.
 */
export function gcArrays(count: number): Uint8Array {
  const section = (id: number, ...content: number[]): number[] => [id, ...leb(content.length), ...content];
  const body = [
    [0x01, 0x01, 0x7f], // one local i32
    [0x03, 0x40], // loop
    [0x23, 0x00, 0x41, ...signedLeb(MEGABYTE), 0xfb, 0x07, 0x01, 0xfb, 0x00, 0x02, 0x24, 0x00], // list = (list, new array)
    [0x20, 0x00, 0x41, 0x01, 0x6a, 0x22, 0x00, 0x41, ...signedLeb(count), 0x48, 0x0d, 0x00, 0x0b], // i += 1; i < count
    [0x03, 0x40, 0x0c, 0x00, 0x0b, 0x0b], // loop for ever
  ].flat();
  return Uint8Array.from([
    ...MAGIC_AND_VERSION,
    // () -> (); array of i8; struct of the list before it and an array
    ...section(1, 3, 0x60, 0, 0, 0x5e, 0x78, 0x01, 0x5f, 0x02, 0x63, 0x02, 0x00, 0x64, 0x01, 0x00),
    ...section(3, 1, 0),
    ...section(6, 1, 0x63, 0x02, 0x01, 0xd0, 0x02, 0x0b), // the list, null at first
    ...section(7, 1, 3, ...Buffer.from("run"), 0x00, 0),
    ...section(10, 1, ...leb(body.length), ...body),
  ]);
}

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

function signedLeb(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signedLeb(value >>> 7)];
}
