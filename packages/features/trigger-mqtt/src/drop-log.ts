import type { Clock, Logger } from "@svc/contract";

const QUIET_MS = 60_000;

/** Messages that started nothing, by reason: the first at once, then their count once a minute, however many come. */
export class DropLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #counts = new Map<string, { unreported: number; nextMs: number }>();

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** `reason`: one of a few texts of ours. */
  dropped(reason: string, fields: Readonly<Record<string, string | number>> = {}): void {
    const nowMs = this.#clock.monotonic();
    const count = this.#counts.get(reason) ?? { unreported: 0, nextMs: -Infinity };
    this.#counts.set(reason, count);
    count.unreported += 1;
    if (nowMs < count.nextMs) return;
    this.#log.warn("messages started no procedure", { reason, messages: count.unreported, ...fields });
    count.unreported = 0;
    count.nextMs = nowMs + QUIET_MS;
  }
}
