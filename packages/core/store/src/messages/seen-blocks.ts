/**
 * Digests that were seen a while ago, thousands in a block, written once and never changed. In memory a block is a filter
 * of 21 bits a digest; where that says "maybe", one small row is read.
 */
import type { DatabaseSync } from "node:sqlite";

/** Rows of a block, by the last byte of the digest: two on a page of the database. */
export const SEEN_ROWS = 128;

export class SeenBlocks {
  #filters: BlockFilters | undefined;
  readonly #all;
  readonly #row;
  readonly #insertBlock;
  readonly #insertRow;
  readonly #expired;
  readonly #deleteBlock;
  readonly #deleteRows;

  constructor(db: DatabaseSync) {
    this.#all = db.prepare("SELECT n, filter FROM seen_blocks");
    this.#row = db.prepare("SELECT entries FROM seen_rows WHERE n = ?");
    this.#insertBlock = db.prepare("INSERT INTO seen_blocks (expires_at, filter) VALUES (?, ?)");
    this.#insertRow = db.prepare("INSERT INTO seen_rows VALUES (?, ?)");
    this.#expired = db.prepare("SELECT n FROM seen_blocks WHERE expires_at <= ? LIMIT 1");
    this.#deleteBlock = db.prepare("DELETE FROM seen_blocks WHERE n = ?");
    this.#deleteRows = db.prepare(
      "DELETE FROM seen_rows WHERE n >= ? AND n < ? RETURNING octet_length(entries) AS bytes",
    );
  }

  /** Whether it is there, and is remembered for longer than `untilMs`. */
  has(digest: string, untilMs: number): boolean {
    return this.#loaded().some(digest, (block) => this.#isIn(block, digest, untilMs));
  }

  #isIn(block: number, digest: string, untilMs: number): boolean {
    const row = this.#row.get(block * SEEN_ROWS + rowOf(digest)) as { entries: Uint8Array } | undefined;
    const expiresAtMs = row && expiryIn(row.entries, digest);
    return expiresAtMs !== undefined && expiresAtMs > untilMs;
  }

  /** Not before it is needed: commands that only read have no use for it. */
  #loaded(): BlockFilters {
    if (this.#filters) return this.#filters;
    this.#filters = new BlockFilters();
    for (const { n, filter } of this.#all.all() as { n: number; filter: Uint8Array }[]) this.#filters.add(n, filter);
    return this.#filters;
  }

  /** Inside a transaction: writes them in blocks. Call the result once they are on disk. */
  seal(entries: readonly SeenEntry[]): () => void {
    const adoptions: (() => void)[] = [];
    for (let at = 0; at < entries.length; at += BLOCK_SIZE)
      adoptions.push(this.#seal(entries.slice(at, at + BLOCK_SIZE)));
    return () => adoptions.forEach((adopt) => adopt());
  }

  #seal(entries: readonly SeenEntry[]): () => void {
    const filter = filterOf(entries.map(([digest]) => digest));
    const rows = Array.from({ length: SEEN_ROWS }, (): SeenEntry[] => []);
    for (const entry of entries) rows[rowOf(entry[0])]!.push(entry);
    const n = Number(this.#insertBlock.run(lastExpiry(entries), filter).lastInsertRowid);
    for (const [row, some] of rows.entries()) this.#insertRow.run(n * SEEN_ROWS + row, pack(some));
    return () => this.#filters?.add(n, filter);
  }

  /** Inside a transaction: forgets a block of which every digest's time is over; tells how many they were. */
  dropExpired(nowMs: number): number {
    const block = this.#expired.get(nowMs) as { n: number } | undefined;
    if (!block) return 0;
    this.#deleteBlock.run(block.n);
    const rows = this.#deleteRows.all(block.n * SEEN_ROWS, (block.n + 1) * SEEN_ROWS) as { bytes: number }[];
    // Should the transaction be undone, their time is over all the same.
    this.#filters?.remove(block.n);
    return rows.reduce((sum, { bytes }) => sum + bytes / ENTRY_BYTES, 0);
  }
}

const rowOf = (digest: string): number => digest.charCodeAt(15) % SEEN_ROWS;

// Digests and how long they are remembered, as bytes: 16 of the digest, then the milliseconds since the epoch as a double.

/** A string whose 16 characters are the digest's bytes, and when it is forgotten. */
export type SeenEntry = readonly [digest: string, expiresAtMs: number];

const DIGEST_BYTES = 16;
export const ENTRY_BYTES = DIGEST_BYTES + 8;

export function pack(entries: readonly SeenEntry[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(entries.length * ENTRY_BYTES);
  for (const [index, [digest, expiresAtMs]] of entries.entries()) {
    bytes.write(digest, index * ENTRY_BYTES, "latin1");
    bytes.writeDoubleLE(expiresAtMs, index * ENTRY_BYTES + DIGEST_BYTES);
  }
  return bytes;
}

export function* unpack(packed: Uint8Array): Generator<SeenEntry> {
  const bytes = asBuffer(packed);
  for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
    yield [bytes.toString("latin1", at, at + DIGEST_BYTES), bytes.readDoubleLE(at + DIGEST_BYTES)];
  }
}

export function expiryIn(packed: Uint8Array, digest: string): number | undefined {
  const bytes = asBuffer(packed);
  for (let at = bytes.indexOf(digest, 0, "latin1"); at >= 0; at = bytes.indexOf(digest, at + 1, "latin1")) {
    if (at % ENTRY_BYTES === 0) return bytes.readDoubleLE(at + DIGEST_BYTES);
  }
  return undefined;
}

const asBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);

/** When all of them are forgotten. */
export const lastExpiry = (entries: readonly SeenEntry[]): number =>
  entries.reduce((last, [, expiresAtMs]) => Math.max(last, expiresAtMs), 0);

/** 21 for each digest of a block. */
const FILTER_BITS = 131_072;
export const BLOCK_SIZE = 6_144;
const PROBES = 9;

interface Group {
  readonly words: Int32Array;
  /** By bit. */
  readonly blocks: (number | undefined)[];
}

/**
 * Which of many blocks may hold a digest: right about "no", and wrong about "maybe" once in 12 000 times. Bit n of a word
 * belongs to the nth of 32 blocks, so that a few words answer for all of them: a filter for each block, asked one after the
 * other, took 4 µs a message with a million ids, and this takes 0.4.
 */
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
