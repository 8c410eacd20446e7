/** What is too old goes, in steps so small that the turns between them notice nothing. Each step is part of a group commit. */
import type { DatabaseSync } from "node:sqlite";
import type { ApprovalStore, GrantStore } from "../approvals.ts";
import type { ConversationStore } from "../sessions/conversations.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { IdempotencyStore } from "../idempotency.ts";
import type { MessageStores } from "../messages/messages.ts";
import type { FiledMessage } from "../message-types.ts";
import type { OldPage } from "../messages/old-messages.ts";
import { type Below, OldSessions } from "../sessions/old-sessions.ts";
import type { PageSessionStore } from "../devices/page-sessions.ts";
import type { SearchIndex } from "../sessions/search-index.ts";
import type { SessionActivity } from "../sessions/sessions.ts";
import type { Pruned, RetentionLimits } from "../types.ts";
import type { UsageStore } from "../usage.ts";
import { statSync } from "node:fs";

const DAY_MS = 86_400_000;
/** Limits count the day; the rest is for a clock that is set back. */
const CLIENT_USAGE_DAYS = 31;

/** Most of one step. The output of a tool call has up to 64 KiB, whose pages are read when they are freed. */
const STEP = { toolCalls: 50, keys: 500, approvals: 100, choices: 200, clients: 500 } as const;

/** Those that know themselves what of theirs is too old. */
export interface Keepers {
  readonly keys: IdempotencyStore;
  readonly messages: MessageStores;
  readonly sopRuns: OldSopRuns;
  readonly approvals: ApprovalStore;
  readonly grants: GrantStore;
  readonly conversations: ConversationStore;
  readonly activity: SessionActivity;
  readonly search: SearchIndex;
  readonly pageSessions: PageSessionStore;
  readonly usage: UsageStore;
  readonly space: Space;
}

/** Told of messages that are deleted next. Must not reject. */
export type RemoveFiles = (messages: readonly FiledMessage[]) => Promise<void>;

type AgingBox = Pick<MessageStores["outbox"], "old" | "dropOld">;

export class Retention {
  readonly #commits: GroupCommit;
  readonly #keepers: Keepers;
  readonly #sessions: OldSessions;
  readonly #deleteCalls;
  #running: Promise<Pruned> | undefined;
  #stopped = false;

  constructor(db: DatabaseSync, commits: GroupCommit, keepers: Keepers) {
    this.#commits = commits;
    this.#keepers = keepers;
    this.#sessions = new OldSessions(db, keepers);
    this.#deleteCalls = db.prepare(
      `DELETE FROM tool_calls WHERE (turn_id, call_id) IN
         (SELECT turn_id, call_id FROM tool_calls WHERE started_at < ? AND state <> 'started'
            AND turn_id NOT IN (SELECT turn_id FROM steps)
            AND turn_id NOT IN (SELECT 'sop-' || id || '-' || step FROM sop_active JOIN sop_runs USING (n))
          ORDER BY started_at LIMIT ${STEP.toolCalls})`,
    );
  }

  /** One at a time: who asks while one runs gets its result. Rejects with STORE_*. */
  prune(limits: RetentionLimits, nowMs: number, removeFiles: RemoveFiles): Promise<Pruned> {
    this.#running ??= this.#prune(limits, nowMs, removeFiles).finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** No step after the one that is queued. */
  stop(): void {
    this.#stopped = true;
  }

  async #prune(limits: RetentionLimits, nowMs: number, removeFiles: RemoveFiles): Promise<Pruned> {
    const { keys, space, messages: stores, sopRuns, conversations, pageSessions } = this.#keepers;
    const oldestCallMs = nowMs - limits.toolCallDays * DAY_MS;
    const oldestEndMs = nowMs - limits.messageDays * DAY_MS;
    const sessions = await this.#dropSessions(limits, nowMs);
    if (limits.sessionDays > 0) {
      const oldestChoiceMs = nowMs - limits.sessionDays * DAY_MS;
      await this.#untilNone(() => conversations.dropOld(oldestChoiceMs, STEP.choices));
      await this.#untilNone(() => this.#keepers.grants.dropOld(oldestChoiceMs, STEP.choices));
    }
    const turns = await this.#untilNone(() => this.#sessions.sweep());
    const toolCalls = await this.#untilNone(() => Number(this.#deleteCalls.run(oldestCallMs).changes));
    const oldestUsage = new Date(nowMs - CLIENT_USAGE_DAYS * DAY_MS).toISOString().slice(0, 10);
    await this.#untilNone(() => this.#keepers.usage.dropClients(oldestUsage, STEP.clients));
    const idempotencyKeys = await this.#untilNone(() => keys.dropExpired(nowMs, STEP.keys));
    if (limits.pageSessionDays !== undefined) {
      const oldestUseMs = nowMs - limits.pageSessionDays * DAY_MS;
      await this.#untilNone(() => pageSessions.dropIdle(oldestUseMs, STEP.keys));
    }
    // Before the messages: who else would know of them, when the process is killed in between?
    const messages = await this.#walk(stores.inbox, oldestEndMs, async (numbers) => {
      const filed = stores.inbox.withFiles(numbers);
      if (filed.length > 0) await removeFiles(filed);
    });
    const deliveries = await this.#walk(stores.outbox, oldestEndMs, async () => {});
    await this.#untilNone(() => sopRuns.drop(oldestEndMs));
    await this.#untilNone(() => stores.dedupe.raiseFloors(nowMs));
    const seenIds = await this.#untilNone(() => stores.dedupe.forget(nowMs));
    const approvals = await this.#untilNone(() => this.#keepers.approvals.dropOld(oldestEndMs, STEP.approvals));
    await this.#untilNone(() => space.release());
    return { sessions, turns, toolCalls, idempotencyKeys, messages, deliveries, seenIds, approvals };
  }

  /** Repeats a step until it finds nothing to do; resolves with how much all of them did. */
  async #untilNone(step: () => number): Promise<number> {
    let sum = 0;
    for (let done = 1; done > 0 && !this.#stopped; sum += done) done = await this.#commits.write(step);
    return sum;
  }

  /** Deletes the old messages of a box, a page at a time; resolves with how many there were. */
  async #walk(
    box: AgingBox,
    beforeMs: number,
    beforePage: (numbers: readonly number[]) => Promise<void>,
  ): Promise<number> {
    let sum = 0;
    for (let from: number | undefined = 0; from !== undefined && !this.#stopped;) {
      const { numbers, next }: OldPage = box.old(beforeMs, from);
      await beforePage(numbers);
      if (this.#stopped) break;
      sum += await this.#commits.write(() => box.dropOld(numbers, beforeMs));
      from = next;
    }
    return sum;
  }

  /** Walks all of them, the most recent first: one that a clock was wrong for must not hide the others. */
  async #dropSessions({ sessionDays, maxSessions }: RetentionLimits, nowMs: number): Promise<number> {
    const oldestMs = sessionDays === 0 ? -Infinity : nowMs - sessionDays * DAY_MS;
    let room = maxSessions === 0 ? Infinity : maxSessions;
    let dropped = 0;
    let before: number | undefined = Number.MAX_SAFE_INTEGER;
    while (before !== undefined && !this.#stopped) {
      const below: Below = { before, oldestMs, room };
      const page = await this.#commits.write(() => this.#sessions.dropPage(below));
      room -= page.kept;
      dropped += page.dropped;
      before = page.before;
    }
    return dropped;
  }
}

// Runs that ended long ago are deleted, a few in each step. Their lines in the audit log stay.

/** Most of one step: a payload has up to 64 KiB, and so has each output. */
const RUNS = 20;

export class OldSopRuns {
  readonly #old;
  readonly #deletes;
  readonly #dropDefinitions;

  constructor(db: DatabaseSync) {
    // The newest stays, or its number would be given to the next one.
    this.#old = db.prepare(
      `SELECT n FROM sop_ended WHERE ended_at < ? AND n < (SELECT max(n) FROM sop_runs) ORDER BY n LIMIT ${RUNS}`,
    );
    this.#deletes = ["sop_steps WHERE run_n", "sop_ended WHERE n", "sop_runs WHERE n"].map((rows) =>
      db.prepare(`DELETE FROM ${rows} = ?`),
    );
    this.#dropDefinitions = db.prepare(
      "DELETE FROM sop_definitions WHERE NOT EXISTS (SELECT 1 FROM sop_runs WHERE sop_runs.definition = sop_definitions.n)",
    );
  }

  /** Inside a transaction; tells how many. */
  drop(beforeMs: number): number {
    const old = this.#old.all(beforeMs) as { n: number }[];
    for (const { n } of old) for (const rows of this.#deletes) rows.run(n);
    if (old.length > 0) this.#dropDefinitions.run();
    return old.length;
  }
}

// How large the database is, and how deleted space goes back to the disk.

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
