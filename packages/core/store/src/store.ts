/** The durable state of one home: one SQLite file in WAL mode, fsync'd at every commit. */
import type { Clock } from "@svc/contract";
import { AuditStore } from "./audit.ts";
import { ApprovalStore, GrantStore } from "./approvals.ts";
import { ConversationStore, KnownConversations } from "./sessions/conversations.ts";
import { DeviceStore } from "./devices/devices.ts";
import { GroupCommit } from "./engine/group-commit.ts";
import { type IdempotencyOptions, IdempotencyStore } from "./idempotency.ts";
import type { InboxStore } from "./messages/inbox.ts";
import { MessageStores, type StepStore } from "./messages/messages.ts";
import type { OutboxStore } from "./messages/outbox.ts";
import { OldSopRuns, type RemoveFiles, Retention, Space, allowRelease } from "./engine/retention.ts";
import { OpenTurnStore } from "./sessions/open-turns.ts";
import { PageSessionStore } from "./devices/page-sessions.ts";
import { Recovery } from "./engine/recovery.ts";
import { SessionActivity, SessionStore } from "./sessions/sessions.ts";
import { SearchIndex } from "./sessions/search-index.ts";
import { SopRunStore } from "./sop-runs.ts";
import { isDiskError, storeError } from "./engine/sqlite-error.ts";
import { ToolCallStore } from "./sessions/tool-calls.ts";
import type { Pruned, RetentionLimits } from "./types.ts";
import { UploadStore } from "./sessions/uploads.ts";
import { UsageStore } from "./usage.ts";
import { VaultStore } from "./devices/vault.ts";
import { DatabaseSync, type SQLInputValue, type StatementSync, backup } from "node:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isNewestSchema, migrate } from "./engine/migrations.ts";

export interface StoreOptions {
  /** The database file, or `:memory:`. */
  readonly file: string;
  readonly clock: Clock;
  readonly idempotency: IdempotencyOptions;
  /**
   * Asked whenever something is to be written: W3C `traceparent` of what asks. It is kept with messages and runs of procedures.
   * Default: nobody traces.
   */
  readonly traceparent?: () => string | undefined;
}

export interface Store {
  readonly meta: MetaStore;
  readonly devices: DeviceStore;
  readonly pageSessions: PageSessionStore;
  readonly idempotency: IdempotencyStore;
  readonly sessions: SessionStore;
  readonly openTurns: OpenTurnStore;
  readonly conversations: ConversationStore;
  readonly knownConversations: KnownConversations;
  readonly toolCalls: ToolCallStore;
  readonly uploads: UploadStore;
  readonly usage: UsageStore;
  readonly vault: VaultStore;
  readonly state: StateTexts;
  readonly inbox: InboxStore;
  readonly outbox: OutboxStore;
  readonly steps: StepStore;
  readonly sopRuns: SopRunStore;
  readonly audit: AuditStore;
  readonly approvals: ApprovalStore;
  readonly grants: GrantStore;
  /** Runs `change` in the next group commit; resolves once it is on disk. Rejects with STORE_FULL or STORE_FAILED. */
  write<T>(change: () => T): Promise<T>;
  /** False after a write that the disk refused, until one succeeds. Asking makes it try again by itself. */
  writable(): boolean;
  /**
   * Removes what is too old, in small steps. One at a time. `removeFiles` is told of messages that go next, and must not
   * reject. Rejects with STORE_*.
   */
  prune(limits: RetentionLimits, nowMs: number, removeFiles?: RemoveFiles): Promise<Pruned>;
  /** Bytes on disk. */
  size(): number;
  /** Writes all of it, as it is at one instant, to a file that does not exist yet. Rejects with STORE_*. */
  backupTo(file: string): Promise<void>;
  /** Commits what is queued and closes the file. */
  close(): void;
}

/** Opens and migrates the database. Throws STORE_NEWER, STORE_FULL or STORE_FAILED. */
export function openStore(options: StoreOptions): Store {
  let opened: OpenDatabase | undefined;
  try {
    opened = openDatabase(options.file);
    return storeOn(opened, options);
  } catch (error) {
    opened?.db.close();
    throw storeError(error);
  }
}

function storeOn({ db, shared, refused }: OpenDatabase, options: StoreOptions): Store {
  const { file, clock, idempotency, traceparent } = options;
  const recovery = new Recovery(db, clock);
  const keys = new IdempotencyStore(db, clock, recovery, idempotency);
  const usage = new UsageStore(db);
  const partOf = (): string | undefined => commits.traceparent;
  const messages = new MessageStores(db, clock, partOf);
  const conversations = new ConversationStore(db);
  const activity = new SessionActivity(db);
  const openTurns = new OpenTurnStore(db);
  const commits: GroupCommit = new GroupCommit(db, {
    refused,
    traceparent,
    beforeBegin: () => {
      if (!recovery.isDone) recovery.ensure();
    },
    beforeCommit: () => {
      usage.flush();
      search.beforeCommit();
      activity.beforeCommit();
      if (messages.hasChanges) messages.hooks.beforeCommit();
    },
    afterCommit: () => {
      if (messages.hasChanges) messages.hooks.afterCommit();
    },
    onRollback: () => {
      keys.recount();
      usage.discard();
      conversations.onRollback();
      openTurns.onRollback();
      search.onRollback();
      messages.hooks.onRollback();
    },
  });
  const search: SearchIndex = new SearchIndex(db, (change) => commits.runNow(change));
  const pageSessions = new PageSessionStore(db, commits);
  const approvals = new ApprovalStore(db);
  const grants = new GrantStore(db);
  const space = new Space(db, file);
  const retention = new Retention(db, commits, {
    sopRuns: new OldSopRuns(db),
    keys,
    space,
    messages,
    approvals,
    grants,
    conversations,
    activity,
    search,
    pageSessions,
    usage,
  });
  const probe = new DiskProbe(db, commits, clock);
  return {
    meta: new MetaStore(db, commits),
    devices: new DeviceStore(db, commits),
    pageSessions,
    idempotency: keys,
    sessions: new SessionStore(db, { search, activity, conversations }),
    openTurns,
    conversations,
    knownConversations: new KnownConversations(db),
    toolCalls: new ToolCallStore(db, clock),
    uploads: new UploadStore(db),
    usage,
    vault: new VaultStore(db, commits),
    state: new StateTexts(db, commits),
    inbox: messages.inbox,
    outbox: messages.outbox,
    steps: messages.steps,
    sopRuns: new SopRunStore(db, partOf),
    audit: new AuditStore(db, clock),
    approvals,
    grants,
    write: (change) => commits.write(change),
    writable: () => probe.writable(),
    prune: (limits, nowMs, removeFiles = async () => {}) => retention.prune(limits, nowMs, removeFiles),
    size: () => space.bytes(),
    backupTo: (target) => (shared ? copyDatabase(file, target) : copyOpen(db, target)),
    close: () => {
      retention.stop();
      commits.flushNow();
      // A version from before the batches would not add them.
      search.catchUp();
      db.close();
    },
  };
}

/** Single facts about this home, by name. */
class MetaStore {
  readonly #commits: GroupCommit;
  readonly #get;
  readonly #insert;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#commits = commits;
    this.#get = db.prepare("SELECT value FROM meta WHERE key = ?");
    this.#insert = db.prepare("INSERT OR IGNORE INTO meta VALUES (?, ?)");
  }

  get(key: string): string | undefined {
    return (this.#get.get(key) as { value: string } | undefined)?.value;
  }

  /** The value under `key`; what `make` gives becomes it, for good, when there is none. */
  async getOrMake(key: string, make: () => string): Promise<string> {
    const known = this.get(key);
    if (known !== undefined) return known;
    await this.#commits.write(() => this.#insert.run(key, make()));
    return this.get(key)!;
  }
}

/** Whether the disk takes writes. After a refusal a tiny write tries again, so that a service nobody calls gets well too. */
const PROBE_EVERY_MS = 5_000;

class DiskProbe {
  readonly #commits: GroupCommit;
  readonly #clock: Clock;
  readonly #touch;
  #probedAtMs = -Infinity;

  constructor(db: DatabaseSync, commits: GroupCommit, clock: Clock) {
    this.#commits = commits;
    this.#clock = clock;
    this.#touch = db.prepare(
      "INSERT INTO meta VALUES ('disk_probe', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    );
  }

  /** As the last write found it. */
  writable(): boolean {
    if (!this.#commits.writable) this.#probe();
    return this.#commits.writable;
  }

  #probe(): void {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#probedAtMs < PROBE_EVERY_MS) return;
    this.#probedAtMs = nowMs;
    // What it finds is in `commits.writable`.
    this.#commits.write(() => this.#touch.run(String(this.#clock.now()))).catch(() => {});
  }
}

// Copies a database while it is written to. What the copy holds is all of one instant, in one file.

/** More than a database can have: all pages are copied in one step, so that no write in between starts the copy anew. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * With a connection of its own, in a thread of its own: neither the event loop nor a write waits for it. `to` must not
 * exist. Rejects with STORE_FULL or STORE_FAILED.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  try {
    const db = new DatabaseSync(from, { readOnly: true, timeout: 5000 });
    try {
      await backup(db, to, { rate: ALL_PAGES });
    } finally {
      db.close();
    }
    asOneFile(to);
  } catch (error) {
    throw storeError(error);
  }
}

/** Where nobody else can open the database: some pages at a time, and each write waits for those. */
async function copyOpen(db: DatabaseSync, to: string): Promise<void> {
  try {
    await backup(db, to);
    asOneFile(to);
  } catch (error) {
    throw storeError(error);
  }
}

/**
 * The copy says of itself that it has a log beside it, and whoever looks at it would make one. Sign-ins of the page stay
 * behind: one that was ended since must not come back with a backup.
 */
function asOneFile(file: string): void {
  const db = new DatabaseSync(file);
  try {
    if (hasPageSessions(db)) db.exec("DELETE FROM page_sessions");
    db.exec("PRAGMA journal_mode = DELETE");
  } finally {
    db.close();
  }
}

/** A home that was not opened since an older svc has no such table. */
const hasPageSessions = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'page_sessions'").get() !== undefined;

/** Plain texts by owner and name: where a feature goes on after a restart. */
export class StateTexts {
  readonly #commits: GroupCommit;
  readonly #get;
  readonly #set;
  readonly #delete;
  readonly #list;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#commits = commits;
    this.#get = db.prepare("SELECT value FROM state WHERE owner = ? AND name = ?");
    this.#set = db.prepare(
      "INSERT INTO state VALUES (?, ?, ?) ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value",
    );
    this.#delete = db.prepare("DELETE FROM state WHERE owner = ? AND name = ?");
    this.#list = db.prepare(
      "SELECT name FROM state WHERE owner = ? AND substr(name, 1, length(?2)) = ?2 ORDER BY name",
    );
  }

  get(owner: string, name: string): string | undefined {
    return (this.#get.get(owner, name) as { value: string } | undefined)?.value;
  }

  /** Resolves once it is on disk. Rejects with STORE_*. */
  async set(owner: string, name: string, value: string): Promise<void> {
    await this.#commits.write(() => this.#set.run(owner, name, value));
  }

  /** Inside a transaction. */
  setIn(owner: string, name: string, value: string): void {
    this.#set.run(owner, name, value);
  }

  /** Inside a transaction. */
  deleteIn(owner: string, name: string): void {
    this.#delete.run(owner, name);
  }

  /** Resolves with whether there was one, once it is gone from disk. Rejects with STORE_*. */
  async delete(owner: string, name: string): Promise<boolean> {
    const { changes } = await this.#commits.write(() => this.#delete.run(owner, name));
    return Number(changes) > 0;
  }

  /** Names in order, those that begin with `prefix`. */
  list(owner: string, prefix: string): string[] {
    return (this.#list.all(owner, prefix) as { name: string }[]).map((row) => row.name);
  }
}

// Opens the database file, on a full disk too: what is kept can be read then, and writes say that the disk is full.

/** Pages of the write-ahead log after which it is written back, and the size it is cut to then. */
const CHECKPOINT_PAGES = 4000;
const LOG_BYTES = CHECKPOINT_PAGES * 4096;
/** For a lock of another process: at the start, when nobody is served yet, and later, when everybody waits with it. */
const FIRST_LOCK_WAIT_MS = 5000;
const LOCK_WAIT_MS = 1000;

interface OpenDatabase {
  readonly db: DatabaseSync;
  /** Whether another connection can read it meanwhile. */
  readonly shared: boolean;
  /** The disk did not let it be opened in the usual way. */
  readonly refused: boolean;
}

/** With the newest schema. Throws SQLite's errors and STORE_NEWER; nothing stays open then. */
export function openDatabase(file: string): OpenDatabase {
  if (file === ":memory:") return { db: open(file), shared: false, refused: false };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    return { db: open(file), shared: true, refused: false };
  } catch (error) {
    if (!isDiskError(error)) throw error;
    // With the file to ourselves the index of the log is kept in memory: it is the one thing that opening has to write.
    return { db: open(file, "PRAGMA locking_mode = EXCLUSIVE;"), shared: false, refused: true };
  }
}

function open(file: string, first = ""): DatabaseSync {
  const db = new StoreDatabase(file, { timeout: FIRST_LOCK_WAIT_MS });
  try {
    db.exec(first);
    // It has a say only before the first table, and would be written each time.
    if (isEmpty(db)) db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    // FULL: a commit that was answered survives a power cut. cache_size is in KiB when negative.
    db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
       PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES};`,
    );
    if (migrate(db)) allowRelease(db, file);
    // A broken schema must fail here, not at the first use of what it lacks.
    db.compilesAtFirstUse = isNewestSchema(db);
    db.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Compiles a statement at its first use: the stores prepare more than 200, and a start uses few of them. */
class StoreDatabase extends DatabaseSync {
  compilesAtFirstUse = false;

  override prepare(sql: string): StatementSync {
    return this.compilesAtFirstUse ? (new LateStatement(this, sql) as unknown as StatementSync) : super.prepare(sql);
  }

  compile(sql: string): StatementSync {
    return super.prepare(sql);
  }
}

/** Has what the stores use of a statement. */
class LateStatement {
  readonly #db: StoreDatabase;
  readonly #sql: string;
  #compiled: StatementSync | undefined;

  constructor(db: StoreDatabase, sql: string) {
    this.#db = db;
    this.#sql = sql;
  }

  get(...values: SQLInputValue[]): unknown {
    return (this.#compiled ??= this.#db.compile(this.#sql)).get(...values);
  }

  all(...values: SQLInputValue[]): unknown {
    return (this.#compiled ??= this.#db.compile(this.#sql)).all(...values);
  }

  run(...values: SQLInputValue[]): unknown {
    return (this.#compiled ??= this.#db.compile(this.#sql)).run(...values);
  }

  setAllowUnknownNamedParameters(enabled: boolean): void {
    (this.#compiled ??= this.#db.compile(this.#sql)).setAllowUnknownNamedParameters(enabled);
  }
}

const isEmpty = (db: DatabaseSync): boolean =>
  (db.prepare("PRAGMA page_count").get() as { page_count: number }).page_count === 0;
