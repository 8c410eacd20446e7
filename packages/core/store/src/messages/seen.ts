/**
 * What was seen before: ids of platforms' messages, and values that may be used once. Ids are random, and in a B-tree each
 * of them would write a page of its own with every commit. So a commit appends its ids in one row, and some thousands
 * of them are kept in memory; then they are written together (the numbers: ../../bench/README.md).
 */
import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { BLOCK_SIZE } from "./block-filters.ts";
import { SeenBlocks } from "./seen-blocks.ts";
import { ENTRY_BYTES, lastExpiry, pack, type SeenEntry, unpack } from "./seen-entries.ts";

export class SeenStore {
  readonly #blocks: SeenBlocks;
  /** When each is forgotten, by digest: all that is in no block. Undefined until it is asked for. */
  #recent: Map<string, number> | undefined;
  /** Of the open transaction. */
  #added: string[] = [];
  /** Those of them that had been there, and were over. */
  #replaced: SeenEntry[] = [];
  #afterCommit: (() => void) | undefined;
  readonly #all;
  readonly #insert;
  readonly #deleteAll;
  readonly #deleteExpired;

  constructor(db: DatabaseSync) {
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
