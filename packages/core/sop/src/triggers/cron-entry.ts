/** One cron trigger: up to when its times are dealt with, and when it is due. */
import type { CronMark } from "./cron-marks.ts";
import type { CronTimes } from "./cron-time.ts";

/** What was due longer ago is not made up for; a clock that was ahead by more was wrong. */
const DAY_MS = 86_400_000;

export interface CronTrigger {
  readonly sop: string;
  readonly expression: string;
  readonly timezone: string | undefined;
}

/** The same trigger has the same key in every process. */
export const cronKey = ({ sop, expression, timezone }: CronTrigger): string =>
  `${sop} ${timezone ?? "UTC"} ${expression}`;

export class CronEntry {
  readonly key: string;
  readonly trigger: CronTrigger;
  /** The mark is not on disk. */
  isUnkept: boolean;
  isFiring = false;
  /** By the monotonic clock: it was refused, and is left alone until then. */
  notBefore = 0;
  readonly #times: CronTimes;
  #mark: CronMark;
  #nextMs = Infinity;

  /** `kept`: its mark on disk. Without one it counts from now. */
  constructor(trigger: CronTrigger, times: CronTimes, kept: CronMark | undefined, nowMs: number) {
    this.key = cronKey(trigger);
    this.trigger = trigger;
    this.#times = times;
    this.isUnkept = kept === undefined;
    this.#mark = kept ?? { atMs: nowMs, fired: false };
    this.mark(this.#mark);
  }

  get kept(): CronMark {
    return this.#mark;
  }

  /** The first time that is not dealt with. */
  get nextMs(): number {
    return this.#nextMs;
  }

  mark(mark: CronMark): void {
    this.#mark = mark;
    this.#nextMs = this.#times.nextAfter(mark.atMs) ?? Infinity;
  }

  /**
   * The clock was set back: a mark in the future is of the clock that was ahead. What was fired by it stays fired, unless
   * it was so far ahead that it was wrong; true then.
   */
  setBack(nowMs: number): boolean {
    const { atMs, fired, ahead } = this.#mark;
    const wasWrong = fired && atMs - nowMs > DAY_MS;
    if (atMs > nowMs && (!fired || wasWrong)) {
      this.mark({ atMs: nowMs, fired: false, ...withAhead(nowMs, wasWrong ? atMs : ahead) });
      this.isUnkept = true;
    }
    return wasWrong;
  }

  /**
   * The clock was set forward, or nobody knows. If it had been wrong when it was set back, as on a machine that boots
   * without a clock of its own, what was fired before that is over again.
   */
  setForward(nowMs: number): void {
    const { ahead } = this.#mark;
    if (ahead === undefined || ahead > nowMs) return;
    this.mark({ atMs: ahead, fired: true });
    this.isUnkept = true;
  }

  /** The mark that stands for this time when it is dealt with. */
  markOf(atMs: number, fired: boolean): CronMark {
    return { atMs, fired, ...withAhead(atMs, this.#mark.ahead) };
  }

  /** Of all times that are due the latest: it stands for those before. */
  latest(nowMs: number): { readonly dueMs: number; readonly isTooLate: boolean } {
    const dueMs = Math.max(this.#nextMs, this.#times.lastUntil(nowMs) ?? this.#nextMs);
    return { dueMs, isTooLate: nowMs - dueMs > DAY_MS };
  }
}

const withAhead = (atMs: number, ahead: number | undefined): Pick<CronMark, "ahead"> =>
  ahead !== undefined && ahead > atMs ? { ahead } : {};
