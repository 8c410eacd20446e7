/** The audit log: lines that are added and never changed. Each is hashed together with the hash of the line before it. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock, Json } from "@svc/contract";
import { type AuditHead, auditHash, canonicalJson, headOf, headText, NO_LINE } from "./audit-line.ts";
import { type AuditReport, verifyAudit } from "./audit-verify.ts";
import type { AuditEntry } from "./sop-types.ts";

/** In `meta`: the last line, kept a second time, so that lines cut off the end are missed. */
const HEAD_KEY = "audit.head";

export class AuditStore {
  readonly #db: DatabaseSync;
  readonly #clock: Clock;
  readonly #head;
  readonly #insert;
  readonly #setHead;
  readonly #list;

  constructor(db: DatabaseSync, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    this.#head = db.prepare(
      "SELECT (SELECT value FROM meta WHERE key = ?) AS head, (SELECT max(n) FROM audit) AS last",
    );
    this.#insert = db.prepare("INSERT INTO audit VALUES (?, ?, ?, ?, ?)");
    this.#setHead = db.prepare("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
    this.#list = db.prepare("SELECT * FROM audit WHERE n < ? ORDER BY n DESC LIMIT ?");
  }

  /** Inside a transaction. */
  add(kind: string, data: Json): void {
    const before = this.#last();
    const line = { n: before.n + 1, atMs: this.#clock.now(), kind, data: canonicalJson(data) };
    const hash = auditHash(before.hash, line);
    this.#insert.run(line.n, line.atMs, kind, line.data, hash);
    this.#setHead.run(HEAD_KEY, headText({ n: line.n, hash }));
  }

  /** Newest first. */
  list(limit: number, before: number = Number.MAX_SAFE_INTEGER): AuditEntry[] {
    return (this.#list.all(before, limit) as unknown as AuditRow[]).map(({ n, at, kind, data, hash }) => ({
      n,
      atMs: at,
      kind,
      data: JSON.parse(data) as Json,
      hash,
    }));
  }

  /** Reads all of it, a little at a time. */
  verify(): Promise<AuditReport> {
    return verifyAudit(this.#db);
  }

  /**
   * What the next line follows. After a line that was cut off, removed or slipped in by somebody else the log goes on, and
   * still does not verify: nothing is fixed here.
   */
  #last(): AuditHead {
    const { head, last } = this.#head.get(HEAD_KEY) as { head: string | null; last: number | null };
    const known = headOf(head) ?? NO_LINE;
    return { n: Math.max(known.n, last ?? 0), hash: known.hash };
  }
}

interface AuditRow {
  n: number;
  at: number;
  kind: string;
  data: string;
  hash: string;
}
