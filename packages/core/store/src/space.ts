/** How large the database is, and how deleted space goes back to the disk. */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** Freed pages that stay for what comes next: this share, and at least so many. */
const SPARE_SHARE = 0.1;
const MIN_SPARE_PAGES = 256;
/** Pages that one step moves; about a millisecond. */
const STEP_PAGES = 64;
/** A database made before space was given back is rewritten once, when that takes no more than a moment. */
const MAX_REWRITE_BYTES = 64 * 1024 * 1024;

export class Space {
  readonly #db: DatabaseSync;
  readonly #file: string;
  readonly #pages;
  readonly #free;

  constructor(db: DatabaseSync, file: string) {
    this.#db = db;
    this.#file = file;
    this.#pages = db.prepare("SELECT page_count AS n, page_size AS size FROM pragma_page_count, pragma_page_size");
    this.#free = db.prepare("SELECT freelist_count AS n FROM pragma_freelist_count");
  }

  /** Bytes on disk, the write-ahead log included. */
  bytes(): number {
    const { n, size } = this.#pages.get() as { n: number; size: number };
    const log = statSync(`${this.#file}-wal`, { throwIfNoEntry: false });
    return n * size + (log?.size ?? 0);
  }

  /** Inside a transaction: gives a few free pages back to the disk; tells how many. */
  release(): number {
    const free = this.#freePages();
    const { n } = this.#pages.get() as { n: number };
    if (free - STEP_PAGES < Math.max(MIN_SPARE_PAGES, n * SPARE_SHARE)) return 0;
    this.#db.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
    // None in a database without pointer maps: it uses its free pages again, and keeps its size.
    return free - this.#freePages();
  }

  #freePages(): number {
    return (this.#free.get() as { n: number }).n;
  }
}

/** After an upgrade: from here on freed pages can be given back. A large file, or a full disk, is left as it is. */
export function allowRelease(db: DatabaseSync, file: string): void {
  const { auto_vacuum: mode } = db.prepare("PRAGMA auto_vacuum").get() as { auto_vacuum: number };
  if (mode !== 0 || new Space(db, file).bytes() > MAX_REWRITE_BYTES) return;
  try {
    db.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
  } catch {
    // It needs the space a second time for a moment, and is worth no start that fails.
  }
}
