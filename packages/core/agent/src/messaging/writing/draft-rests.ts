/** How long a draft rests between two edits: as its channel says, and longer after a failure. */
import { SvcError } from "@svc/contract";

/** Whatever a channel says: a platform is not asked more often. */
const SHORTEST_MS = 100;
const LONGEST_MS = 60_000;

export class DraftRests {
  readonly #intervalMs: () => number;
  #failures = 0;
  #hasFailed = false;

  constructor(intervalMs: () => number) {
    this.#intervalMs = intervalMs;
  }

  get intervalMs(): number {
    return Math.max(SHORTEST_MS, this.#intervalMs());
  }

  /** None has failed before. One line in the log is enough for one answer. */
  get isFirstFailure(): boolean {
    return !this.#hasFailed;
  }

  afterSuccess(): number {
    this.#failures = 0;
    return this.intervalMs;
  }

  /** Undefined: it is not tried again. `isEdit`: to try it again can't make a second message of it. */
  afterFailure(error: unknown, isEdit: boolean): number | undefined {
    this.#hasFailed = true;
    this.#failures += 1;
    const { code, retryAfterMs = 0 } = error instanceof SvcError ? error : {};
    const askedMs = Number.isFinite(retryAfterMs) ? retryAfterMs : 0;
    if (code === "DELIVERY_REFUSED") return undefined;
    // A platform that says when to come again has not taken it. Of any other nobody knows.
    if (!isEdit && askedMs === 0) return undefined;
    const { intervalMs } = this;
    return Math.max(intervalMs, askedMs, Math.min(LONGEST_MS, intervalMs * 2 ** Math.min(this.#failures, 30)));
  }
}
