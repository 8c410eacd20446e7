/** What the log says of a collector that fails: the first time at once, then a line a minute at most. */
import type { Clock, Logger } from "@svc/contract";
import type { Reason } from "./outcome.ts";

const MINUTE_MS = 60_000;

export class Trouble {
  readonly #log: Logger;
  readonly #clock: Clock;
  /** Since the last line. */
  #dropped = 0;
  #reason: Reason = "";
  /** Monotonic. */
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  /** Its end is to be told too. */
  #isTold = false;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** `spans`: 0 when they are kept and tried again. */
  dropped(spans: number, reason: Reason): void {
    this.#dropped += spans;
    this.#reason = reason;
    const waitMs = this.#quietUntilMs - this.#clock.monotonic();
    if (waitMs <= 0) this.#tell();
    else this.#cancel ??= this.#clock.after(waitMs, () => this.#tell());
  }

  /** The collector takes spans. */
  over(): void {
    if (this.#dropped === 0) this.#forget();
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#log.info("the trace collector takes spans again");
  }

  /** Says what was not said yet. */
  close(): void {
    if (this.#cancel !== undefined && this.#dropped > 0) this.#tell();
    this.#forget();
  }

  #forget(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #tell(): void {
    this.#forget();
    this.#log.warn("the trace collector does not take all spans", { reason: this.#reason, dropped: this.#dropped });
    this.#dropped = 0;
    this.#quietUntilMs = this.#clock.monotonic() + MINUTE_MS;
    this.#isTold = true;
  }
}
