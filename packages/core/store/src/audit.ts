/** The audit log: lines that are added and never changed. Each is hashed together with the hash of the line before it. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock, Json } from "@svc/contract";
import type { AuditEntry } from "./sop-types.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createHash } from "node:crypto";
import { rowsOf } from "./rows.ts";

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
    return rowsOf<AuditRow>(this.#list.all(before, limit)).map(({ n, at, kind, data, hash }) => ({
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

/** Lines of one step: about two milliseconds. */
const PAGE = 500;

export interface AuditReport {
  /** Lines there are, up to the first that does not fit. */
  readonly entries: number;
  /** The first line that does not fit, or that is missing. */
  readonly brokenAt: number | undefined;
  /** False: the time was up before all of it was read. */
  readonly complete: boolean;
}

/**
 * Whether the audit log is as it was written: nothing in it changed, removed, slipped in, moved, or cut off its end. Looks until
 * `leftMs` says that no time is left. Lines may be added meanwhile.
 */
export async function verifyAudit(db: DatabaseSync, leftMs: () => number = () => Infinity): Promise<AuditReport> {
  // One statement, one instant: a line that is added in between would seem to be behind the last one.
  const page = db.prepare(
    `SELECT head.value AS head, a.* FROM (SELECT (SELECT value FROM meta WHERE key = 'audit.head') AS value) AS head
     LEFT JOIN (SELECT * FROM audit WHERE n > ? ORDER BY n LIMIT ${PAGE}) AS a`,
  );
  let at: AuditHead = NO_LINE;
  for (;;) {
    if (leftMs() <= 0) return { entries: at.n, brokenAt: undefined, complete: false };
    const rows = rowsOf<VerifiedRow>(page.all(at.n));
    const lines = rows[0]!.n === null ? [] : rows;
    for (const line of lines) {
      const hash = auditHash(at.hash, { n: line.n!, atMs: line.at, kind: line.kind, data: line.data });
      if (line.n !== at.n + 1 || line.hash !== hash) return { entries: at.n, brokenAt: at.n + 1, complete: true };
      at = { n: line.n, hash };
    }
    if (lines.length < PAGE) return { entries: at.n, brokenAt: brokenEnd(at, rows[0]!.head), complete: true };
    await nextTurn();
  }
}

function brokenEnd(last: AuditHead, head: string | null): number | undefined {
  const known = headOf(head) ?? NO_LINE;
  if (known.n === last.n && known.hash === last.hash) return undefined;
  // Lines behind the one that is known to be the last were not written here.
  return known.n < last.n ? known.n + 1 : last.n + 1;
}

interface VerifiedRow {
  readonly head: string | null;
  readonly n: number | null;
  readonly at: number;
  readonly kind: string;
  readonly data: string;
  readonly hash: string;
}

/** What the hash of a line of the audit log is made of. */
interface AuditLine {
  readonly n: number;
  readonly atMs: number;
  readonly kind: string;
  /** Canonical JSON. */
  readonly data: string;
}

/** The last line there is. */
interface AuditHead {
  readonly n: number;
  readonly hash: string;
}

/** What the first line follows. */
const NO_LINE: AuditHead = { n: 0, hash: "0".repeat(64) };

/** Hex SHA-256 over the hash before and the canonical JSON of the line. */
function auditHash(before: string, { n, atMs, kind, data }: AuditLine): string {
  const line = `{"at":${atMs},"data":${data},"kind":${JSON.stringify(kind)},"n":${n}}`;
  return createHash("sha256").update(before).update(line).digest("hex");
}

/** One text for one value: keys in order, no spaces. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(",")}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

const headText = ({ n, hash }: AuditHead): string => `${n} ${hash}`;

function headOf(text: string | null): AuditHead | undefined {
  const parts = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(text ?? "");
  return parts ? { n: Number(parts[1]), hash: parts[2]! } : undefined;
}
