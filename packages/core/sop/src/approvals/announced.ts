/** Each approval is told of by one event, whose id is kept with it. */
import type { Approval } from "@svc/store";
import type { ApprovalOptions } from "./options.ts";
import { requestEvent } from "./outcome.ts";

const MAX_IDS = 10_000;

export class Announced {
  readonly #options: Pick<ApprovalOptions, "publish" | "store">;
  /** Of the last ones: the row that somebody has read may be older than the id in it. */
  readonly #ids = new Map<number, string>();

  constructor(options: Pick<ApprovalOptions, "publish" | "store">) {
    this.#options = options;
  }

  /** Called after the commit. Tells of it unless that was done; a process that was killed in between may not have come to it. */
  tell(approval: Approval): string {
    const { publish, store } = this.#options;
    const known = approval.eventId ?? this.#ids.get(approval.n);
    if (known !== undefined) return known;
    const { id } = publish(requestEvent(approval));
    this.#ids.set(approval.n, id);
    if (this.#ids.size > MAX_IDS) this.#ids.delete(this.#ids.keys().next().value!);
    // Not waited for: where it is lost, the next process tells of it again.
    store.write(() => store.approvals.told(approval.n, id)).catch(() => undefined);
    return id;
  }
}
