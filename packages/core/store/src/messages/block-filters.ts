/**
 * Which of many blocks may hold a digest: right about "no", and wrong about "maybe" once in 12 000 times. Bit n of a word
 * belongs to the nth of 32 blocks, so that a few words answer for all of them: a filter for each block, asked one after the
 * other, took 4 µs a message with a million ids, and this takes 0.4.
 */

/** 21 for each digest of a block. */
const FILTER_BITS = 131_072;
export const BLOCK_SIZE = 6_144;
const PROBES = 9;

interface Group {
  readonly words: Int32Array;
  /** By bit. */
  readonly blocks: (number | undefined)[];
}

export class BlockFilters {
  readonly #groups: Group[] = [];

  add(block: number, filter: Uint8Array): void {
    const { words, blocks } = this.#groups.find(hasRoom) ?? this.#addGroup();
    const slot = blocks.indexOf(undefined);
    blocks[slot] = block;
    for (let at = 0; at < filter.length; at += 1) {
      for (let bits = filter[at]!; bits !== 0; bits &= bits - 1)
        words[at * 8 + 31 - Math.clz32(bits & -bits)]! |= 1 << slot;
    }
  }

  #addGroup(): Group {
    const group = { words: new Int32Array(FILTER_BITS), blocks: Array<number | undefined>(32).fill(undefined) };
    this.#groups.push(group);
    return group;
  }

  remove(block: number): void {
    for (const { words, blocks } of this.#groups) {
      const slot = blocks.indexOf(block);
      if (slot < 0) continue;
      blocks[slot] = undefined;
      for (let at = 0; at < FILTER_BITS; at += 1) words[at]! &= ~(1 << slot);
    }
  }

  /** Whether `isIn` is true of one of the blocks that may hold the digest. */
  some(digest: string, isIn: (block: number) => boolean): boolean {
    const start = word(digest, 0);
    const stride = word(digest, 4);
    for (const { words, blocks } of this.#groups) {
      let maybe = -1;
      for (let probe = 0; probe < PROBES && maybe !== 0; probe += 1) maybe &= words[bitOf(start, stride, probe)]!;
      for (let slot = 0; maybe !== 0; slot += 1, maybe >>>= 1) {
        if ((maybe & 1) === 1 && isIn(blocks[slot]!)) return true;
      }
    }
    return false;
  }
}

const hasRoom = ({ blocks }: Group): boolean => blocks.includes(undefined);

/** The filter of one block, as it is kept. */
export function filterOf(digests: Iterable<string>): Uint8Array {
  const filter = new Uint8Array(FILTER_BITS / 8);
  for (const digest of digests) {
    const start = word(digest, 0);
    const stride = word(digest, 4);
    for (let probe = 0; probe < PROBES; probe += 1) {
      const bit = bitOf(start, stride, probe);
      filter[bit >> 3]! |= 1 << (bit & 7);
    }
  }
  return filter;
}

/** An odd stride: the probes of one digest are different bits. */
const bitOf = (start: number, stride: number, probe: number): number =>
  (start + Math.imul(stride | 1, probe)) & (FILTER_BITS - 1);

/** 32 bits of a digest whose characters are its bytes. */
const word = (digest: string, at: number): number =>
  digest.charCodeAt(at) |
  (digest.charCodeAt(at + 1) << 8) |
  (digest.charCodeAt(at + 2) << 16) |
  (digest.charCodeAt(at + 3) << 24);
