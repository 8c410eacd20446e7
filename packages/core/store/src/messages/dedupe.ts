/** What is new of a delivery. Ids are remembered over restarts, and for as long as the platform may repeat itself. */
import { DEDUPE_MS } from "@svc/contract";
import type { DatabaseSync } from "node:sqlite";
import type { NewMessage } from "../message-types.ts";
import { hash } from "node:crypto";

/** Floors raised in one step of retention. */
const STEP = 500;

export class Dedupe {
  readonly seen: SeenStore;
  readonly #floors: FloorStore;

  /** `changed`: the open transaction has something that `seen.flush` must write. */
  constructor(db: DatabaseSync, changed = (): void => {}) {
    this.seen = new SeenStore(db, changed);
    this.#floors = new FloorStore(db);
  }

  /** Inside a transaction: tells whether the value was not used before; from here on it is. */
  use(channel: string, once: string, nowMs: number): boolean {
    return this.seen.add(keyOf("once", channel, once), nowMs, DEDUPE_MS);
  }

  /** Inside a transaction: tells whether the message was not seen before; from here on it is. */
  isNew(channel: string, { conversationKey, dedupe }: NewMessage, nowMs: number): boolean {
    if (dedupe === undefined) return true;
    const { key, forMs, sequence } = dedupe;
    const id = keyOf("id", channel, key);
    if (sequence === undefined) return this.seen.add(id, nowMs, forMs);
    const place = keyOf("lane", channel, conversationKey);
    // An id whose time is over is known until its number has raised the floor: there is no instant between the two.
    if (this.#floors.isBelow(place, sequence) || !this.seen.add(id, nowMs, forMs, "even expired")) return false;
    this.#floors.add(place, sequence, nowMs + forMs);
    return true;
  }

  /** Inside a transaction: raises some of the floors that have to be raised before ids are forgotten; tells how many. */
  raiseFloors(nowMs: number): number {
    return this.#floors.raise(nowMs, STEP);
  }

  /** Inside a transaction: forgets some of the ids whose time is over; tells how many. */
  forget(nowMs: number): number {
    this.#floors.raise(nowMs, Number.MAX_SAFE_INTEGER);
    return this.seen.dropExpired(nowMs);
  }
}

/**
 * No two of them are the same text, for the id of a channel has no line break in it. `lane` is the kind of a conversation's key. Floors
 * are stored under these texts: another word would forget them.
 */
const keyOf = (kind: "once" | "id" | "lane", channel: string, text: string): string => `${kind}\n${channel}\n${text}`;

/**
 * Where a platform numbers its messages, none gets in again after its id was forgotten: when it is, its number raises the floor of its
 * conversation, and what lies at or below the floor was there before.
 */
class FloorStore {
  readonly #floor;
  readonly #insert;
  readonly #expired;
  readonly #delete;
  readonly #raise;

  constructor(db: DatabaseSync) {
    this.#floor = db.prepare("SELECT 1 FROM floors WHERE conversation_key = ? AND sequence >= ?");
    this.#insert = db.prepare("INSERT INTO sequences (expires_at, sequence, conversation_key) VALUES (?, ?, ?)");
    this.#expired = db.prepare(
      "SELECT n, sequence, conversation_key AS place FROM sequences WHERE expires_at <= ? ORDER BY expires_at LIMIT ?",
    );
    this.#delete = db.prepare("DELETE FROM sequences WHERE n = ?");
    this.#raise = db.prepare(
      "INSERT INTO floors VALUES (?, ?) ON CONFLICT (conversation_key) DO UPDATE SET sequence = max(sequence, excluded.sequence)",
    );
  }

  isBelow(place: string, sequence: number): boolean {
    return this.#floor.get(place, sequence) !== undefined;
  }

  /** Inside a transaction. */
  add(place: string, sequence: number, expiresAtMs: number): void {
    this.#insert.run(expiresAtMs, sequence, place);
  }

  /** Inside a transaction: raises floors by at most `limit` numbers whose time is over; tells by how many. */
  raise(nowMs: number, limit: number): number {
    const expired = this.#expired.all(nowMs, limit) as { n: number; sequence: number; place: string }[];
    for (const { n, sequence, place } of expired) {
      this.#raise.run(place, sequence);
      this.#delete.run(n);
    }
    return expired.length;
  }
}

/**
 * What was seen before: ids of platforms' messages, and values that may be used once. Ids are random, and in a B-tree each of them would
 * write a page of its own with every commit. So a commit appends its ids in one row, and some thousands of them are kept in memory; then
 * they are written together (the numbers: ../../bench/README.md).
 */
export class SeenStore {
  readonly #blocks: SeenBlocks;
  /** When each is forgotten, by digest: all that is in no block. Undefined until it is asked for. */
  #recent: Map<string, number> | undefined;
  /** Of the open transaction. */
  #added: string[] = [];
  /** Those of them that had been there, and were over. */
  #replaced: SeenEntry[] = [];
  #afterCommit: (() => void) | undefined;
  readonly #changed: () => void;
  readonly #all;
  readonly #insert;
  readonly #deleteAll;
  readonly #deleteExpired;

  /** `changed`: the open transaction has something that `flush` must write. */
  constructor(db: DatabaseSync, changed = (): void => {}) {
    this.#changed = changed;
    this.#blocks = new SeenBlocks(db);
    this.#all = db.prepare("SELECT entries FROM seen_recent ORDER BY n");
    this.#insert = db.prepare("INSERT INTO seen_recent (expires_at, entries) VALUES (?, ?)");
    this.#deleteAll = db.prepare("DELETE FROM seen_recent");
    this.#deleteExpired = db.prepare(
      `DELETE FROM seen_recent WHERE expires_at <= ? RETURNING octet_length(entries) / ${ENTRY_BYTES} AS ids`,
    );
  }

  /** Inside a transaction: remembers it; tells whether it was new. `even expired`: it is known as long as it is not dropped. */
  add(key: string, nowMs: number, forMs: number, known: "in time" | "even expired" = "in time"): boolean {
    // 128 bits: nobody finds an id that passes for another's.
    const digest = hash("sha256", key, "latin1").slice(0, 16);
    const untilMs = known === "in time" ? nowMs : -Infinity;
    const recent = this.#loaded();
    const expiresAtMs = recent.get(digest);
    if ((expiresAtMs !== undefined && expiresAtMs > untilMs) || this.#blocks.has(digest, untilMs)) return false;
    if (expiresAtMs !== undefined) this.#replaced.push([digest, expiresAtMs]);
    recent.set(digest, nowMs + forMs);
    this.#added.push(digest);
    this.#changed();
    return true;
  }

  /** Not before it is needed: commands that only read have no use for it. */
  #loaded(): Map<string, number> {
    const rows = (): { entries: Uint8Array }[] => this.#all.all() as { entries: Uint8Array }[];
    return (this.#recent ??= new Map(rows().flatMap(({ entries }) => [...unpack(entries)])));
  }

  /** Before a commit: writes what its transaction added. */
  flush(): void {
    if (this.#added.length === 0) return;
    const recent = this.#loaded();
    if (recent.size < BLOCK_SIZE) return this.#append(this.#added.map((digest) => [digest, recent.get(digest)!]));
    const entries = [...recent];
    const whole = entries.splice(0, entries.length - (entries.length % BLOCK_SIZE));
    const adopt = this.#blocks.seal(whole);
    this.#deleteAll.run();
    if (entries.length > 0) this.#append(entries);
    this.#afterCommit = () => {
      adopt();
      for (const [digest] of whole) recent.delete(digest);
    };
  }

  #append(entries: readonly SeenEntry[]): void {
    this.#insert.run(lastExpiry(entries), pack(entries));
  }

  /** The transaction is on disk. */
  settle(): void {
    this.#afterCommit?.();
    this.#reset();
  }

  /** The transaction was undone. */
  discard(): void {
    for (const digest of this.#added) this.#recent?.delete(digest);
    for (const [digest, expiresAtMs] of this.#replaced) this.#recent?.set(digest, expiresAtMs);
    this.#reset();
  }

  #reset(): void {
    this.#afterCommit = undefined;
    this.#added = [];
    this.#replaced = [];
  }

  /** Inside a transaction: forgets some of those whose time is over; tells how many. 0: there are no more. */
  dropExpired(nowMs: number): number {
    const rows = this.#deleteExpired.all(nowMs) as { ids: number }[];
    // Should the transaction be undone, their time is over all the same.
    for (const [digest, expiresAtMs] of this.#recent ?? []) if (expiresAtMs <= nowMs) this.#recent!.delete(digest);
    return rows.reduce((sum, { ids }) => sum + ids, 0) || this.#blocks.dropExpired(nowMs);
  }
}

// Digests that were seen a while ago, thousands in a block, written once and never changed. In memory a block is a filter of 21 bits a
// digest; where that says "maybe", one small row is read.

/** Rows of a block, by the last byte of the digest: two on a page of the database. */
export const SEEN_ROWS = 128;

class SeenBlocks {
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
