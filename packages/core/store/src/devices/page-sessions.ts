/** Sign-ins of the page. The gateway reads them once, at its start, and keeps those that are in use itself. */
import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "../engine/group-commit.ts";
import { rowsOf } from "../rows.ts";

/** How stale `seen_at` may get before it is written again. */
const TOUCH_EVERY_MS = 60_000;

export class PageSessionStore {
  readonly #commits: GroupCommit;
  /** When each was noted as seen last. */
  readonly #touchedMs = new Map<string, number>();
  readonly #all;
  readonly #insert;
  readonly #touch;
  readonly #delete;
  readonly #deleteIdle;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#commits = commits;
    this.#all = db.prepare("SELECT * FROM page_sessions ORDER BY seen_at");
    this.#insert = db.prepare(
      "INSERT INTO page_sessions (id_hash, id, device, browser, secure, created_at, seen_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#touch = db.prepare("UPDATE page_sessions SET seen_at = ? WHERE id_hash = ?");
    this.#delete = db.prepare("DELETE FROM page_sessions WHERE id_hash = ?");
    this.#deleteIdle = db.prepare(
      "DELETE FROM page_sessions WHERE id_hash IN (SELECT id_hash FROM page_sessions WHERE seen_at < ? LIMIT ?)",
    );
  }

  /** Those on disk, the least recently seen first. */
  all(): readonly PageSession[] {
    return rowsOf<PageSessionRow>(this.#all.all()).map(fromRow);
  }

  /** Resolves once it is on disk. Rejects with STORE_*, also when its device is gone. */
  async add({ idHash, id, deviceId, browser, isSecure, createdAtMs, seenAtMs }: PageSession): Promise<void> {
    await this.#commits.write(() =>
      this.#insert.run(idHash, id, deviceId, browser, Number(isSecure), createdAtMs, seenAtMs),
    );
    this.#touchedMs.set(idHash, seenAtMs);
  }

  /** Resolves once it is not on disk. Rejects with STORE_*. */
  async remove(idHash: string): Promise<void> {
    await this.#commits.write(() => this.#delete.run(idHash));
    this.#touchedMs.delete(idHash);
  }

  /** Notes a use; written at most once a minute, and never waited for. A clock that was set back counts as a minute. */
  touch(idHash: string, atMs: number): void {
    const beforeMs = this.#touchedMs.get(idHash);
    if (beforeMs !== undefined && Math.abs(atMs - beforeMs) < TOUCH_EVERY_MS) return;
    this.#touchedMs.set(idHash, atMs);
    this.#commits
      .write(() => this.#touch.run(atMs, idHash))
      .catch(() => {
        // Not worth an error: the next request tries again.
        this.#touchedMs.delete(idHash);
      });
  }

  /** Inside a transaction: deletes at most `limit` that were last seen before `oldestMs`; returns how many. */
  dropIdle(oldestMs: number, limit: number): number {
    // What is on disk is up to a minute older than what the gateway knows.
    return Number(this.#deleteIdle.run(oldestMs - TOUCH_EVERY_MS, limit).changes);
  }
}

interface PageSessionRow {
  id_hash: string;
  id: string;
  device: string;
  browser: string;
  secure: number;
  created_at: number;
  seen_at: number;
}

const fromRow = (row: PageSessionRow): PageSession => ({
  id: row.id,
  idHash: row.id_hash,
  deviceId: row.device,
  browser: row.browser,
  isSecure: row.secure !== 0,
  createdAtMs: row.created_at,
  seenAtMs: row.seen_at,
});

/** A sign-in of the page on disk. The cookie that proves it is not stored. */
export interface PageSession {
  /** Names the sign-in in lists; opens nothing. */
  readonly id: string;
  /** Hex SHA-256 of the cookie's value. */
  readonly idHash: string;
  readonly deviceId: string;
  /** Browser and system in words, such as `Firefox on Linux`. */
  readonly browser: string;
  /** The page came by https: its cookie is `Secure`, whenever it is set again. */
  readonly isSecure: boolean;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
}
