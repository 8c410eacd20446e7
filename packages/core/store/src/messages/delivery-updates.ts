/** What a platform says later of a message: it may come twice, out of order, and before its receipt is on disk. */
import type { DatabaseSync } from "node:sqlite";
import type { DeliveryUpdate } from "@svc/contract";

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

export class PlatformWords {
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
