/** What is to go out, in the order of each conversation. A delivery leaves it only by an end that is noted. */
import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Clock, DeliveryUpdate, ErrorCode, Json } from "@svc/contract";
import type {
  Delivery,
  EndedFilter,
  EndedPage,
  StoredFile,
  MessageCounts,
  MessageFilter,
  NewDelivery,
  OutboxState,
  WaitingDelivery,
} from "../message-types.ts";
import type { PartOf } from "../types.ts";
import { Box, type BoxRow, type BoxShape, type Tally, selectFrom } from "./box.ts";
import { OldMessageSweep, type OldPage } from "./old-messages.ts";
import { rowsOf } from "../rows.ts";

export class OutboxStore {
  readonly #db: DatabaseSync;
  readonly #clock: Clock;
  readonly #partOf: PartOf;
  readonly #box: Box<OutboxRow>;
  readonly #words: PlatformWords;
  readonly #insert;
  readonly #byKey;
  readonly #byTurn;
  readonly #waiting;
  readonly #oldest;
  readonly #begin;
  readonly #calledOff;
  readonly #retry;
  readonly #sweep;

  constructor(db: DatabaseSync, clock: Clock, tally: Tally, partOf: PartOf) {
    this.#db = db;
    this.#clock = clock;
    this.#partOf = partOf;
    this.#box = new Box(db, OUTBOX, tally);
    this.#words = new PlatformWords(db);
    this.#insert = db.prepare(
      `INSERT INTO outbox
         (delivery_id, channel, chat, thread, conversation_key, turn_id, key, created_at, files, reply_data, text, approval, draft, traceparent)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#byKey = db.prepare("SELECT n FROM outbox WHERE key = ?");
    this.#byTurn = db.prepare("SELECT n FROM outbox WHERE turn_id = ? ORDER BY n");
    this.#waiting = db.prepare(
      "SELECT n, conversation_key AS conversationKey, channel, not_before AS notBeforeMs, crashes FROM outbox_open JOIN outbox USING (n) ORDER BY n",
    );
    this.#oldest = db.prepare("SELECT created_at AS at FROM outbox WHERE n = (SELECT min(n) FROM outbox_open)");
    this.#begin = db.prepare("UPDATE outbox_open SET begun = 1 WHERE n = ?");
    this.#calledOff = db.prepare("UPDATE outbox_open SET begun = 0 WHERE n = ?");
    this.#retry = db.prepare(
      "UPDATE outbox_open SET begun = 0, attempts = attempts + 1, error = ?, not_before = ? WHERE n = ?",
    );
    this.#sweep = new OldMessageSweep(db, OUTBOX, tally);
  }

  /** Inside a transaction. Where a `key` is there already, nothing is added, and the one that has it is returned. */
  add(deliveries: readonly NewDelivery[], nowMs: number): Delivery[] {
    return deliveries.map((delivery) => this.#existing(delivery.key) ?? this.#add(delivery, nowMs));
  }

  #existing(key: string | undefined): Delivery | undefined {
    if (key === undefined) return undefined;
    const row = this.#byKey.get(key) as { n: number } | undefined;
    return row && this.read(row.n);
  }

  #add(delivery: NewDelivery, nowMs: number): Delivery {
    const { conversation, conversationKey, text, files, replyData, turnId, key, approval, draft } = delivery;
    const { channel, id, thread } = conversation;
    const deliveryId = randomUUID();
    const traceparent = this.#partOf();
    const { lastInsertRowid } = this.#insert.run(
      deliveryId,
      channel,
      id,
      thread ?? null,
      conversationKey,
      turnId ?? null,
      key ?? null,
      nowMs,
      JSON.stringify(files),
      replyData === undefined ? null : JSON.stringify(replyData),
      text,
      approval ?? null,
      draft ?? null,
      traceparent ?? null,
    );
    const n = Number(lastInsertRowid);
    this.#box.open(n);
    const traced = traceparent === undefined ? {} : { traceparent };
    return { ...delivery, n, deliveryId, createdAtMs: nowMs, ...UNTRIED, ...traced };
  }

  /** In the order they were added. */
  waiting(): WaitingDelivery[] {
    return rowsOf<WaitingDelivery>(this.#waiting.all());
  }

  read(n: number): Delivery | undefined {
    const row = this.#box.read(n);
    return row && deliveryOf(row);
  }

  /** Newest first. */
  list(filter: MessageFilter, limit: number): Delivery[] {
    return listMessages<OutboxRow>(this.#db, OUTBOX, filter, limit).map(deliveryOf);
  }

  /** Some of those that are dead or were dropped, to take them up again. */
  ended(filter: EndedFilter): EndedPage<Omit<WaitingDelivery, "notBeforeMs">> {
    return endedPage(this.#db, OUTBOX, "conversation_key AS conversationKey", filter);
  }

  /** In the order they were added. */
  ofTurn(turnId: string): Delivery[] {
    return (this.#byTurn.all(turnId) as { n: number }[]).flatMap(({ n }) => this.read(n) ?? []);
  }

  /** Inside a transaction: it is being sent. If the process does not survive that, the next one counts it. */
  begin(n: number): void {
    this.#begin.run(n);
  }

  /** Inside a transaction: the sending was called off, as a shutdown does, and does not count. */
  calledOff(n: number): void {
    this.#calledOff.run(n);
  }

  /** Inside a transaction: the platform has it. Tells whether it waited. */
  sent(n: number, platformId: string | undefined, nowMs: number): boolean {
    if (!this.#box.end(n, { state: "sent", atMs: nowMs })) return false;
    if (platformId !== undefined) this.#words.receipt(n, platformId, () => this.read(n)!.conversation.channel);
    return true;
  }

  /** Inside a transaction: the attempt failed. Tells whether it waits. */
  retry(n: number, code: ErrorCode, notBeforeMs: number): boolean {
    return Number(this.#retry.run(code, notBeforeMs, n).changes) > 0;
  }

  /** Inside a transaction: nobody tries it again; an attempt that failed was the last, or there was none. Tells whether it waited. */
  dead(n: number, code: ErrorCode, nowMs: number, failedAttempts: 0 | 1 = 1): boolean {
    return this.#box.end(n, { state: "dead", atMs: nowMs, error: code, failedAttempts });
  }

  /** Inside a transaction. Tells whether it waited. */
  drop(n: number): boolean {
    return this.#box.end(n, { state: "dropped", atMs: this.#clock.now() });
  }

  /** Inside a transaction: a dead or dropped one waits again, with all its attempts before it. Tells whether it was one. */
  reopen(n: number): boolean {
    return this.#box.reopen(n);
  }

  /** Inside a transaction: what the platform says of a message that it accepted. Updates come late, twice and out of order. */
  update(channel: string, update: DeliveryUpdate): void {
    this.#words.update(channel, update);
  }

  /** Some of those that ended before `beforeMs`, from the number `from` on. */
  old(beforeMs: number, from: number): OldPage {
    return this.#sweep.page(beforeMs, from);
  }

  /** Inside a transaction: deletes them. Tells how many went. */
  dropOld(numbers: readonly number[], beforeMs: number): number {
    return this.#sweep.delete(numbers, beforeMs).length;
  }

  counts(): MessageCounts["outbox"] {
    return { waiting: 0, sent: 0, dead: 0, dropped: 0, ...this.#box.counts() };
  }

  /** When the oldest of those that wait was added; Infinity when none does. */
  oldestWaitingMs(): number {
    return (this.#oldest.get() as { at: number } | undefined)?.at ?? Infinity;
  }
}

/** A list of messages, newest first. It walks only what it lists: a million answered ones stand in nobody's way. */
export function listMessages<Row extends BoxRow>(
  db: DatabaseSync,
  shape: BoxShape,
  { state, channel, before = Number.MAX_SAFE_INTEGER }: MessageFilter,
  limit: number,
): Row[] {
  const rows = (by: "m" | "o" | "e", ...conditions: (string | false)[]): Row[] => {
    const where = [`${by}.n < :before`, ...conditions.filter((one) => one !== false)].join(" AND ");
    const statement = db.prepare(`${selectFrom(shape, by)} WHERE ${where} ORDER BY ${by}.n DESC LIMIT :limit`);
    statement.setAllowUnknownNamedParameters(true);
    return rowsOf<Row>(statement.all({ before, limit, state: state ?? null, channel: channel ?? null }));
  };
  const isIn = (column: string): string | false => channel !== undefined && `${column} = :channel`;
  const waiting = (): Row[] => rows("o", isIn("m.channel"));
  if (state === "waiting") return waiting();
  // What has a plus sign before it is no reason for SQLite to use an index.
  if (state === shape.well) return rows("e", isIn("e.channel"), "+e.state = :state");
  if (state !== undefined) return rows("e", isIn("+e.channel"), "e.state = :state", `e.state <> '${shape.well}'`);
  if (channel === undefined) return rows("m");
  return [...waiting(), ...rows("e", isIn("e.channel"))].toSorted((one, other) => other.n - one.n).slice(0, limit);
}

// Those of a box that ended badly, in order of arrival, a page at a time: there may be a hundred thousand, and others wait.

/** Looked at for one page. Each that is taken up again costs three statements of the transaction it is done in. */
const PAGE = 200;

export function endedPage<Row extends { readonly n: number; readonly channel: string }>(
  db: DatabaseSync,
  { table, well }: BoxShape,
  columns: string,
  { state, channel, after }: EndedFilter,
): EndedPage<Row> {
  // Other channels are left out afterwards: to look for 200 of one channel among all would take as long as it takes.
  const rows = rowsOf<Row>(
    db
      .prepare(
        `SELECT n, m.channel AS channel, ${columns} FROM ${table}_ended AS e JOIN ${table} AS m USING (n)
       WHERE e.state = ? AND e.state <> '${well}' AND n > ? ORDER BY n LIMIT ${PAGE}`,
      )
      .all(state, after),
  );
  return {
    messages: channel === undefined ? rows : rows.filter((row) => row.channel === channel),
    next: rows.length === PAGE ? rows.at(-1)!.n : undefined,
  };
}

/** A delivery as the database has it, and as others see it. */
const OUTBOX: BoxShape = {
  table: "outbox",
  well: "sent",
  text: "text",
  columns: `m.delivery_id, m.chat, m.thread, m.turn_id, m.key, m.created_at, m.files, m.reply_data, m.text, m.approval,
    m.draft, m.traceparent, coalesce(o.not_before, 0) AS not_before, e.platform_id, e.platform_status, e.platform_reason`,
};

const UNTRIED = {
  state: "waiting",
  attempts: 0,
  notBeforeMs: 0,
  endedAtMs: undefined,
  platformId: undefined,
  platformStatus: undefined,
  platformReason: undefined,
  error: undefined,
} as const;

interface OutboxRow extends BoxRow {
  delivery_id: string;
  chat: string;
  thread: string | null;
  turn_id: string | null;
  key: string | null;
  created_at: number;
  files: string;
  reply_data: string | null;
  text: string;
  approval: number | null;
  draft: string | null;
  traceparent: string | null;
  not_before: number;
  platform_id: string | null;
  platform_status: DeliveryUpdate["status"] | null;
  platform_reason: string | null;
}

const deliveryOf = (row: OutboxRow): Delivery => ({
  n: row.n,
  deliveryId: row.delivery_id,
  conversation: { channel: row.channel, id: row.chat, ...(row.thread !== null && { thread: row.thread }) },
  conversationKey: row.conversation_key,
  text: row.text,
  files: JSON.parse(row.files) as StoredFile[],
  ...(row.reply_data !== null && { replyData: JSON.parse(row.reply_data) as Json }),
  ...(row.turn_id !== null && { turnId: row.turn_id }),
  ...(row.key !== null && { key: row.key }),
  ...(row.approval !== null && { approval: row.approval }),
  ...(row.draft !== null && { draft: row.draft }),
  state: row.state as OutboxState,
  attempts: row.attempts,
  notBeforeMs: row.not_before,
  createdAtMs: row.created_at,
  endedAtMs: row.ended_at ?? undefined,
  platformId: row.platform_id ?? undefined,
  platformStatus: row.platform_status ?? undefined,
  platformReason: row.platform_reason ?? undefined,
  error: row.error ?? undefined,
  ...(row.traceparent !== null && { traceparent: row.traceparent }),
});

/** What a platform says later of a message: it may come twice, out of order, and before its receipt is on disk. */
type Status = DeliveryUpdate["status"];

/** Of one message. */
type PlatformWord = Pick<DeliveryUpdate, "status" | "reason">;

const RANK: Readonly<Record<Status, number>> = { sent: 1, delivered: 2, failed: 3, read: 4 };

/** Whether `next` says more than what is known. Nothing takes back that it was read, and else nothing that it failed. */
const isNews = (known: Status | null | undefined, next: Status): boolean => RANK[next] > (known ? RANK[known] : 0);

/** Most that are remembered; an account that others send from too brings many that are never asked for. */
const MAX_EARLY = 1000;
/** No platform has longer ids; where deliveries are not signed, a stranger would fill the memory with a thousand of a megabyte. */
const MAX_ID_CHARS = 512;
/** A sentence. Whatever a channel makes of what it is told: it is no place for a platform's page of HTML. */
const MAX_REASON_CHARS = 200;

const cutReason = (reason: string | undefined): string | undefined => reason?.slice(0, MAX_REASON_CHARS).toWellFormed();

class PlatformWords {
  readonly #early = new EarlyUpdates();
  readonly #receipt;
  readonly #byPlatformId;
  readonly #setStatus;

  constructor(db: DatabaseSync) {
    this.#receipt = db.prepare(
      "UPDATE outbox_ended SET platform_id = ?, platform_status = ?, platform_reason = ? WHERE n = ?",
    );
    this.#byPlatformId = db.prepare(
      `SELECT n, platform_status AS status FROM outbox_ended
       WHERE platform_id = ? AND +channel = ? ORDER BY n DESC LIMIT 1`,
    );
    this.#setStatus = db.prepare("UPDATE outbox_ended SET platform_status = ?, platform_reason = ? WHERE n = ?");
  }

  /** Inside the transaction in which delivery `n` has ended: the platform knows it by this id. */
  receipt(n: number, platformId: string, channelOf: () => string): void {
    const early = this.#early.isEmpty ? undefined : this.#early.of(channelOf(), platformId);
    const { status = null, reason = null } = early ?? {};
    this.#receipt.run(platformId, status, reason, n);
  }

  /** Inside a transaction. */
  update(channel: string, update: DeliveryUpdate): void {
    const { platformId, status, reason } = update;
    const row = this.#byPlatformId.get(platformId, channel) as StatusRow | undefined;
    if (!row) this.#early.add(channel, update);
    else if (isNews(row.status, status)) this.#setStatus.run(status, cutReason(reason) ?? null, row.n);
  }
}

interface StatusRow {
  n: number;
  status: Status | null;
}

/** Updates of messages that nobody here is known to have sent: the platform may be quicker than our commit. */
class EarlyUpdates {
  readonly #words = new Map<string, PlatformWord>();

  get isEmpty(): boolean {
    return this.#words.size === 0;
  }

  add(channel: string, { platformId, status, reason }: DeliveryUpdate): void {
    if (platformId.length > MAX_ID_CHARS) return;
    const key = `${channel}\n${platformId}`;
    if (!isNews(this.#words.get(key)?.status, status)) return;
    const cut = cutReason(reason);
    this.#words.set(key, { status, ...(cut !== undefined && { reason: cut }) });
    if (this.#words.size > MAX_EARLY) this.#words.delete(this.#words.keys().next().value!);
  }

  of(channel: string, platformId: string): PlatformWord | undefined {
    return this.#words.get(`${channel}\n${platformId}`);
  }
}
