/**
 * Digests that were seen a while ago, thousands in a block, written once and never changed. In memory a block is a filter
 * of two bytes a digest; where that says "maybe", one small row is read.
 */
import type { DatabaseSync } from "node:sqlite";
import { addTo, FILTER_BYTES, mayHold } from "./bloom-filter.ts";
import { ENTRY_BYTES, expiryIn, lastExpiry, pack, type SeenEntry } from "./seen-entries.ts";

/** Digests of a block; the filter is made for so many. */
export const BLOCK_SIZE = FILTER_BYTES / 2;
/** Rows of a block, by the last byte of the digest: two on a page of the database. */
const ROWS = 128;

interface Block {
  readonly n: number;
  readonly filter: Uint8Array;
}

export class SeenBlocks {
  #blocks: Block[] | undefined;
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
    return this.#loaded().some(({ n, filter }) => mayHold(filter, digest) && this.#isIn(n, digest, untilMs));
  }

  #isIn(block: number, digest: string, untilMs: number): boolean {
    const row = this.#row.get(block * ROWS + rowOf(digest)) as { entries: Uint8Array } | undefined;
    const expiresAtMs = row && expiryIn(row.entries, digest);
    return expiresAtMs !== undefined && expiresAtMs > untilMs;
  }

  /** Not before it is needed: commands that only read have no use for it. */
  #loaded(): Block[] {
    return (this.#blocks ??= this.#all.all() as unknown as Block[]);
  }

  /** Inside a transaction: writes them in blocks. Call the result once they are on disk. */
  seal(entries: readonly SeenEntry[]): () => void {
    const blocks: Block[] = [];
    for (let at = 0; at < entries.length; at += BLOCK_SIZE) blocks.push(this.#seal(entries.slice(at, at + BLOCK_SIZE)));
    return () => this.#blocks?.push(...blocks);
  }

  #seal(entries: readonly SeenEntry[]): Block {
    const filter = new Uint8Array(FILTER_BYTES);
    const rows = Array.from({ length: ROWS }, (): SeenEntry[] => []);
    for (const entry of entries) {
      addTo(filter, entry[0]);
      rows[rowOf(entry[0])]!.push(entry);
    }
    const n = Number(this.#insertBlock.run(lastExpiry(entries), filter).lastInsertRowid);
    for (const [row, some] of rows.entries()) this.#insertRow.run(n * ROWS + row, pack(some));
    return { n, filter };
  }

  /** Inside a transaction: forgets a block of which every digest's time is over; tells how many they were. */
  dropExpired(nowMs: number): number {
    const block = this.#expired.get(nowMs) as { n: number } | undefined;
    if (!block) return 0;
    this.#deleteBlock.run(block.n);
    // Should the transaction be undone, the digests on disk are over all the same.
    this.#blocks = this.#blocks?.filter(({ n }) => n !== block.n);
    const rows = this.#deleteRows.all(block.n * ROWS, (block.n + 1) * ROWS) as { bytes: number }[];
    return rows.reduce((sum, { bytes }) => sum + bytes / ENTRY_BYTES, 0);
  }
}

const rowOf = (digest: string): number => digest.charCodeAt(15) % ROWS;
