/** What is to go out, in the order of each lane. A delivery leaves it only by an end that is noted. */
import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Clock, DeliveryUpdate, ErrorCode } from "@svc/contract";
import type {
  Delivery,
  EndedFilter,
  EndedPage,
  MessageCounts,
  MessageFilter,
  NewDelivery,
  WaitingDelivery,
} from "../message-types.ts";
import type { PartOf } from "../part-of.ts";
import { Box } from "./box.ts";
import { deliveryOf, OUTBOX, type OutboxRow, UNTRIED } from "./delivery-row.ts";
import { PlatformWords } from "./delivery-updates.ts";
import { endedPage } from "./ended-page.ts";
import { listMessages } from "./list-messages.ts";
import { type OldPage, OldMessageSweep } from "./old-messages.ts";
import type { Tally } from "./tally.ts";

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
         (delivery_id, channel, chat, thread, lane, turn_id, key, created_at, files, reply_data, text, approval, draft, traceparent)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#byKey = db.prepare("SELECT n FROM outbox WHERE key = ?");
    this.#byTurn = db.prepare("SELECT n FROM outbox WHERE turn_id = ? ORDER BY n");
    this.#waiting = db.prepare(
      "SELECT n, lane, channel, not_before AS notBeforeMs, crashes FROM outbox_open JOIN outbox USING (n) ORDER BY n",
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
    const { conversation, lane, text, files, replyData, turnId, key, approval, draft } = delivery;
    const { channel, id, thread } = conversation;
    const deliveryId = randomUUID();
    const traceparent = this.#partOf();
    const { lastInsertRowid } = this.#insert.run(
      deliveryId,
      channel,
      id,
      thread ?? null,
      lane,
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
    return this.#waiting.all() as unknown as WaitingDelivery[];
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
    return endedPage(this.#db, OUTBOX, "lane", filter);
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
