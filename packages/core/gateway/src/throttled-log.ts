/** Log lines that clients can cause: at most one a minute per subject, so that no client can fill the disk. */
import type { Clock } from "@svc/contract";

const EVERY_MS = 60_000;

export class ThrottledLog {
  readonly #clock: Clock;
  readonly #said = new Map<string, { atMs: number; times: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that it happened, `times` over. How often since the last line when one is due, else 0. */
  note(subject = "", times = 1): number {
    const nowMs = this.#clock.monotonic();
    let said = this.#said.get(subject);
    if (said === undefined) this.#said.set(subject, (said = { atMs: -Infinity, times: 0 }));
    said.times += times;
    if (nowMs - said.atMs < EVERY_MS) return 0;
    const sum = said.times;
    said.atMs = nowMs;
    said.times = 0;
    return sum;
  }
}
