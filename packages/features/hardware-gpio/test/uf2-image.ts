/** UF2 images as a linker makes them. */
export interface ImageOptions {
  readonly blocks: number;
  readonly family?: number;
  readonly flags?: number;
  readonly payload?: number;
}

export function uf2({ blocks, family = 0xe48bff56, flags = 0x2000, payload = 256 }: ImageOptions): Buffer {
  const image = Buffer.alloc(blocks * 512);
  for (let number = 0; number < blocks; number += 1) {
    const words = [0x0a324655, 0x9e5d5157, flags, 0x10000000 + number * 256, payload, number, blocks, family];
    for (const [index, word] of words.entries()) image.writeUInt32LE(word, number * 512 + index * 4);
    image.writeUInt32LE(0x0ab16f30, number * 512 + 508);
  }
  return image;
}
