/** What came in and was accepted. It is here before the platform is told so, and leaves only by an end that is noted. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock, ErrorCode, Json } from "@svc/contract";
import type {
  Arrival,
  Arrived,
  EndedFilter,
  EndedPage,
  FiledMessage,
  InboxMessage,
  InboxState,
  KeptMessage,
  MessageCounts,
  MessageFilter,
  NewMessage,
  WaitingMessage,
} from "../message-types.ts";
import { newTurnId } from "../sessions/open-turns.ts";
import type { PartOf } from "../types.ts";
import { Box, type BoxRow, type BoxShape, type Tally } from "./box.ts";
import type { Dedupe } from "./dedupe.ts";
import { type OutboxStore, endedPage, listMessages } from "./outbox.ts";
import { OldMessageSweep, type OldPage } from "./old-messages.ts";
import { rowsOf } from "../rows.ts";

export interface InboxDeps {
  readonly dedupe: Dedupe;
  readonly outbox: OutboxStore;
  readonly tally: Tally;
  readonly partOf: PartOf;
}

export class InboxStore {
  readonly #db: DatabaseSync;
  readonly #clock: Clock;
  readonly #dedupe: Dedupe;
  readonly #outbox: OutboxStore;
  readonly #partOf: PartOf;
  readonly #box: Box<InboxRow>;
  readonly #insert;
  readonly #waiting;
  readonly #oldest;
  readonly #attempts: Attempts;
  readonly #lost: LostMessages;
  readonly #locked: LockedMessages;
  readonly #sweep: OldMessageSweep;
  readonly #dropSteps;
  readonly #files;
  readonly #waitingIn;
  readonly #newestIn;

  constructor(db: DatabaseSync, clock: Clock, { dedupe, outbox, tally, partOf }: InboxDeps) {
    this.#db = db;
    this.#clock = clock;
    this.#dedupe = dedupe;
    this.#outbox = outbox;
    this.#partOf = partOf;
    this.#box = new Box(db, INBOX, tally);
    this.#insert = db.prepare(
      "INSERT INTO inbox (turn_id, channel, kind, conversation_key, received_at, body, traceparent) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#waiting = db.prepare(
      "SELECT n, channel, kind, conversation_key AS conversationKey, crashes FROM inbox_open JOIN inbox USING (n) WHERE kind <> 'locked' ORDER BY n",
    );
    this.#waitingIn = db.prepare(
      "SELECT n FROM inbox_open JOIN inbox USING (n) WHERE kind = 'message' AND conversation_key = ? ORDER BY n",
    );
    this.#newestIn = db.prepare(
      "SELECT n FROM inbox WHERE kind = 'message' AND conversation_key = ? ORDER BY n DESC LIMIT 1",
    );
    this.#oldest = db.prepare(
      "SELECT received_at AS at FROM inbox_open JOIN inbox USING (n) WHERE kind <> 'locked' ORDER BY n LIMIT 1",
    );
    this.#attempts = new Attempts(db);
    this.#lost = new LostMessages(db);
    this.#locked = new LockedMessages(db);
    this.#sweep = new OldMessageSweep(db, INBOX, tally);
    this.#files = db.prepare(
      `SELECT received_at AS receivedAtMs, json_extract(body, '$.media') AS media FROM inbox
       WHERE n = ? AND kind = 'message' AND json_valid(body)`,
    );
    this.#dropSteps = db.prepare("DELETE FROM steps WHERE turn_id = ?");
  }

  /** Inside a transaction: keeps what is new of it. */
  arrive({ channel, once, messages, updates = [] }: Arrival, nowMs: number): Arrived {
    if (once !== undefined && !this.#dedupe.use(channel, once, nowMs)) return { state: "replayed" };
    for (const update of updates) this.#outbox.update(channel, update);
    return {
      state: "kept",
      messages: messages.map((message) =>
        this.#dedupe.isNew(channel, message, nowMs)
          ? this.#keep(channel, message, nowMs)
          : (this.#unlock(channel, message, nowMs) ?? "duplicate"),
      ),
    };
  }

  /** It keeps its number and its turn. Undefined: no such message is locked. */
  #unlock(channel: string, message: NewMessage, nowMs: number): KeptMessage | undefined {
    const unlocked = message.unlocks && this.#locked.unlock(channel, message);
    if (unlocked && message.kind === "reaction") this.#box.end(unlocked.n, { state: "done", atMs: nowMs });
    return unlocked;
  }

  /** Inside a transaction: ends the locked message of this key. Undefined: there was none. */
  endLocked(channel: string, key: string, state: Exclude<InboxState, "waiting">): KeptMessage | undefined {
    const found = this.#locked.find(channel, key);
    return found && this.#endLocked(found.n, state) ? found : undefined;
  }

  /** Inside a transaction: those whose channel no longer looks after them have failed. Tells how many. */
  endForgotten(beforeMs: number): number {
    return this.#locked.before(beforeMs).filter((n) => this.#endLocked(n, "failed")).length;
  }

  #endLocked(n: number, state: Exclude<InboxState, "waiting">): boolean {
    const error = state === "failed" ? ("KEYS_MISSING" as const) : undefined;
    return this.#box.end(n, { state, atMs: this.#clock.now(), error });
  }

  #keep(channel: string, { kind, conversationKey, body }: NewMessage, nowMs: number): KeptMessage {
    const turnId = newTurnId();
    const row = [turnId, channel, kind, conversationKey, nowMs, JSON.stringify(body), this.#partOf() ?? null];
    const n = Number(this.#insert.run(...row).lastInsertRowid);
    this.#box.open(n);
    if (kind === "reaction") this.#box.end(n, { state: "done", atMs: nowMs });
    return { n, turnId };
  }

  /** In order of arrival, without those that are locked. */
  waiting(): WaitingMessage[] {
    return rowsOf<WaitingMessage>(this.#waiting.all());
  }

  /** Messages of one conversation that wait, or are being answered, in order of arrival. */
  waitingIn(conversationKey: string): InboxMessage[] {
    return (this.#waitingIn.all(conversationKey) as { n: number }[]).flatMap(({ n }) => this.read(n) ?? []);
  }

  /** The newest message of a conversation, whatever became of it. Reads backwards until it is found: not for every turn. */
  newestIn(conversationKey: string): InboxMessage | undefined {
    const row = this.#newestIn.get(conversationKey) as { n: number } | undefined;
    return row && this.read(row.n);
  }

  read(n: number): InboxMessage | undefined {
    const row = this.#box.read(n);
    return row && messageOf(row);
  }

  /** Newest first. */
  list(filter: MessageFilter, limit: number): InboxMessage[] {
    return listMessages<InboxRow>(this.#db, INBOX, filter, limit).map(messageOf);
  }

  /** Some of those that failed or were dropped, to take them up again. */
  ended(filter: EndedFilter): EndedPage<WaitingMessage> {
    const page: EndedPage<WaitingMessage> = endedPage(
      this.#db,
      INBOX,
      "kind, conversation_key AS conversationKey",
      filter,
    );
    return { ...page, messages: page.messages.filter(({ kind }) => kind !== "locked") };
  }

  /**
   * Inside a transaction: an attempt runs. If the process does not survive it, the next one counts that, and ends the
   * message with TURN_CRASHED when it is the fifth time. `waitTraceparent`: of its wait for its turn, where that is told.
   */
  begin(n: number, waitTraceparent?: string): void {
    this.#attempts.begin(n, waitTraceparent);
  }

  /** Inside a transaction: the attempt was called off, as a shutdown does, and does not count. */
  calledOff(n: number): void {
    this.#attempts.calledOff(n);
  }

  /** Inside a transaction: the attempt failed, and the message waits for the next one. Tells whether it waits. */
  failed(n: number, code: ErrorCode): boolean {
    return this.#attempts.failed(n, code);
  }

  /** Inside a transaction: the platform has the beginning of its answer, and knows it by this id. */
  drafted(n: number, platformId: string): void {
    this.#attempts.drafted(n, platformId);
  }

  /** Inside a transaction. Tells whether it waited: who is told that it did not must undo what came of it. */
  end(n: number, state: Exclude<InboxState, "waiting">, code?: ErrorCode): boolean {
    const failedAttempts = state === "failed" ? 1 : 0;
    return this.#box.end(n, { state, atMs: this.#clock.now(), error: code, failedAttempts });
  }

  /** Inside a transaction: a failed or dropped one waits again, with all its attempts before it. Tells whether it was one that can be read. */
  reopen(n: number): boolean {
    if (this.#box.read(n)?.kind === "locked") return false;
    this.#lost.notified(n);
    return this.#box.reopen(n);
  }

  /** Those that ended with TURN_CRASHED and whose senders were not told so yet. */
  lost(): InboxMessage[] {
    return this.#lost.all((n) => this.read(n));
  }

  /** Inside the transaction that keeps the word to the sender of a lost message. */
  notified(n: number): void {
    this.#lost.notified(n);
  }

  /** Some of those that ended before `beforeMs`, from the number `from` on. */
  old(beforeMs: number, from: number): OldPage {
    return this.#sweep.page(beforeMs, from);
  }

  /** Those of them that brought files. */
  withFiles(numbers: readonly number[]): FiledMessage[] {
    return numbers.flatMap((n) => {
      const row = this.#files.get(n) as { receivedAtMs: number; media: string | null } | undefined;
      return row?.media ? [{ n, receivedAtMs: row.receivedAtMs, media: JSON.parse(row.media) as Json }] : [];
    });
  }

  /** Inside a transaction: deletes them, with what is left of their turns. Tells how many went. */
  dropOld(numbers: readonly number[], beforeMs: number): number {
    const gone = this.#sweep.delete(numbers, beforeMs);
    for (const { n, turnId } of gone) {
      this.#lost.notified(n);
      this.#dropSteps.run(turnId);
    }
    return gone.length;
  }

  /** Of both boxes. */
  counts(): MessageCounts {
    const since = [this.#oldestMs(), this.#outbox.oldestWaitingMs()];
    const [inbox, outbox] = since.map((atMs) => (atMs === Infinity ? 0 : Math.max(0, this.#clock.now() - atMs)));
    return {
      inbox: { waiting: 0, done: 0, failed: 0, dropped: 0, ...this.#box.counts() },
      outbox: this.#outbox.counts(),
      locked: this.#locked.count(),
      oldestWaitingMs: Math.min(...since) === Infinity ? undefined : Math.max(inbox!, outbox!),
      oldestMs: { inbox: inbox!, outbox: outbox! },
    };
  }

  #oldestMs(): number {
    return (this.#oldest.get() as { at: number } | undefined)?.at ?? Infinity;
  }
}

/** Messages that a start gave up, because the process had died of them again and again; their senders are to be told. */
class LostMessages {
  readonly #all;
  readonly #notified;

  constructor(db: DatabaseSync) {
    this.#all = db.prepare("SELECT n, draft, traceparent FROM inbox_lost ORDER BY n");
    this.#notified = db.prepare("DELETE FROM inbox_lost WHERE n = ?");
  }

  all(read: (n: number) => InboxMessage | undefined): InboxMessage[] {
    const rows = this.#all.all() as { n: number; draft: string | null; traceparent: string | null }[];
    return rows.flatMap(({ n, draft, traceparent: waitTraceparent }) => {
      const message = read(n);
      if (!message) return [];
      return [{ ...message, ...(draft !== null && { draft }), ...(waitTraceparent !== null && { waitTraceparent }) }];
    });
  }

  /** Inside a transaction: its sender is told, or need not be any more. */
  notified(n: number): void {
    this.#notified.run(n);
  }
}

/** What is noted of attempts at a message while it waits. Everything here runs inside a transaction. */
class Attempts {
  readonly #begin;
  readonly #beginTraced;
  readonly #calledOff;
  readonly #failed;
  readonly #drafted;

  constructor(db: DatabaseSync) {
    this.#begin = db.prepare("UPDATE inbox_open SET begun = 1 WHERE n = ?");
    this.#beginTraced = db.prepare("UPDATE inbox_open SET begun = 1, traceparent = ? WHERE n = ?");
    this.#calledOff = db.prepare("UPDATE inbox_open SET begun = 0 WHERE n = ?");
    this.#failed = db.prepare("UPDATE inbox_open SET begun = 0, attempts = attempts + 1, error = ? WHERE n = ?");
    this.#drafted = db.prepare("UPDATE inbox_open SET draft = ? WHERE n = ?");
  }

  begin(n: number, waitTraceparent: string | undefined): void {
    if (waitTraceparent === undefined) this.#begin.run(n);
    else this.#beginTraced.run(waitTraceparent, n);
  }

  calledOff(n: number): void {
    this.#calledOff.run(n);
  }

  failed(n: number, code: ErrorCode): boolean {
    return Number(this.#failed.run(code, n).changes) > 0;
  }

  drafted(n: number, platformId: string): void {
    this.#drafted.run(platformId, n);
  }
}

/** A message as the database has it, and as others see it. */
const INBOX: BoxShape = {
  table: "inbox",
  well: "done",
  text: "body",
  columns: "m.turn_id, m.kind, m.received_at, m.body, o.draft, m.traceparent, o.traceparent AS wait_traceparent",
};

interface InboxRow extends BoxRow {
  turn_id: string;
  kind: NewMessage["kind"];
  received_at: number;
  body: string;
  draft: string | null;
  traceparent: string | null;
  wait_traceparent: string | null;
}

const messageOf = (row: InboxRow): InboxMessage => ({
  n: row.n,
  turnId: row.turn_id,
  channel: row.channel,
  kind: row.kind,
  conversationKey: row.conversation_key,
  body: JSON.parse(row.body) as Json,
  state: row.state as InboxState,
  attempts: row.attempts,
  receivedAtMs: row.received_at,
  endedAtMs: row.ended_at ?? undefined,
  error: row.error ?? undefined,
  ...(row.draft !== null && { draft: row.draft }),
  ...(row.traceparent !== null && { traceparent: row.traceparent }),
  ...(row.wait_traceparent !== null && { waitTraceparent: row.wait_traceparent }),
});

/** Messages that can't be read yet. There are few: their channel bounds them. */
class LockedMessages {
  readonly #find;
  readonly #before;
  readonly #count;
  readonly #unlock;

  constructor(db: DatabaseSync) {
    const locked = "FROM inbox_open JOIN inbox USING (n) WHERE kind = 'locked'";
    this.#find = db.prepare(`SELECT n, turn_id AS turnId ${locked} AND channel = ? AND json_extract(body, '$.id') = ?`);
    this.#before = db.prepare(`SELECT n ${locked} AND received_at < ?`);
    this.#count = db.prepare(`SELECT count(*) AS n ${locked}`);
    this.#unlock = db.prepare("UPDATE inbox SET kind = ?, conversation_key = ?, body = ? WHERE n = ?");
  }

  find(channel: string, key: string): KeptMessage | undefined {
    const row = this.#find.get(channel, key) as { n: number; turnId: string } | undefined;
    return row && { ...row };
  }

  /** Inside a transaction: the message is this one from now on. Undefined: none is locked under its key. */
  unlock(channel: string, { kind, conversationKey, body, dedupe }: NewMessage): KeptMessage | undefined {
    const found = dedupe && this.find(channel, dedupe.key);
    if (found) this.#unlock.run(kind, conversationKey, JSON.stringify(body), found.n);
    return found;
  }

  count(): number {
    return (this.#count.get() as { n: number }).n;
  }

  /** Numbers of those that came before. */
  before(atMs: number): number[] {
    return (this.#before.all(atMs) as { n: number }[]).map(({ n }) => n);
  }
}
