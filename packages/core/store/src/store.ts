/** The durable state of one home: one SQLite file in WAL mode, fsync'd at every commit. */
import type { Clock } from "@svc/contract";
import { AuditStore } from "./audit.ts";
import { ApprovalStore } from "./approvals.ts";
import { ConversationStore } from "./conversations.ts";
import { copyDatabase, copyOpen } from "./copy.ts";
import { DeviceStore } from "./devices.ts";
import { DiskProbe } from "./disk-probe.ts";
import { GrantStore } from "./grants.ts";
import { GroupCommit } from "./group-commit.ts";
import { IdempotencyStore, type IdempotencyOptions } from "./idempotency.ts";
import type { InboxStore } from "./messages/inbox.ts";
import { MessageStores } from "./messages/messages.ts";
import type { OutboxStore } from "./messages/outbox.ts";
import type { StepStore } from "./messages/steps.ts";
import { KnownLanes } from "./known-lanes.ts";
import { MetaStore } from "./meta.ts";
import { OldSopRuns } from "./old-sop-runs.ts";
import { OpenTurnStore } from "./open-turns.ts";
import { type OpenDatabase, openDatabase } from "./open-database.ts";
import { PageSessionStore } from "./page-sessions.ts";
import { Recovery } from "./recovery.ts";
import { type RemoveFiles, Retention } from "./retention.ts";
import { SessionActivity } from "./session-activity.ts";
import { SessionStore } from "./sessions.ts";
import { SearchIndex } from "./search-index.ts";
import { SopRunStore } from "./sop-runs.ts";
import { Space } from "./space.ts";
import { storeError } from "./sqlite-error.ts";
import { StateTexts } from "./state.ts";
import { ToolCallStore } from "./tool-calls.ts";
import type { Pruned, RetentionLimits } from "./types.ts";
import { UploadStore } from "./uploads.ts";
import { UsageStore } from "./usage.ts";
import { VaultStore } from "./vault.ts";

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
  readonly knownLanes: KnownLanes;
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
    beforeBegin: () => recovery.ensure(),
    beforeCommit: () => {
      usage.flush();
      search.beforeCommit();
      activity.beforeCommit();
      messages.hooks.beforeCommit();
    },
    afterCommit: messages.hooks.afterCommit,
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
    knownLanes: new KnownLanes(db),
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
