/** What a platform says later of a message: it may come twice, out of order, and before its receipt is on disk. */
import type { DeliveryUpdate } from "@svc/contract";

type Status = DeliveryUpdate["status"];

const RANK: Readonly<Record<Status, number>> = { sent: 1, delivered: 2, failed: 3, read: 4 };

/** Whether `next` says more than what is known. Nothing takes back that it was read, and else nothing that it failed. */
export const isNews = (known: Status | null | undefined, next: Status): boolean =>
  RANK[next] > (known ? RANK[known] : 0);

/** Most that are remembered; an account that others send from too brings many that are never asked for. */
const MAX_EARLY = 1000;
/** No platform has longer ids; where deliveries are not signed, a stranger would fill the memory with a thousand of a megabyte. */
const MAX_ID_CHARS = 512;

/** Updates of messages that nobody here is known to have sent: the platform may be quicker than our commit. */
export class EarlyUpdates {
  readonly #statuses = new Map<string, Status>();

  get isEmpty(): boolean {
    return this.#statuses.size === 0;
  }

  add(channel: string, platformId: string, status: Status): void {
    if (platformId.length > MAX_ID_CHARS) return;
    const key = `${channel}\n${platformId}`;
    if (!isNews(this.#statuses.get(key), status)) return;
    this.#statuses.set(key, status);
    if (this.#statuses.size > MAX_EARLY) this.#statuses.delete(this.#statuses.keys().next().value!);
  }

  of(channel: string, platformId: string): Status | undefined {
    return this.#statuses.get(`${channel}\n${platformId}`);
  }
}
