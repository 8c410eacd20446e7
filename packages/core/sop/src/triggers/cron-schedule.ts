/**
 * Fires cron triggers. Timers are only a reason to look: what is due is what the wall clock says, and that may jump, stand
 * still while the machine sleeps, or have been wrong all the time. Each time is fired once; times that were missed come
 * down to the latest of them.
 */
import { type Clock, type Logger, SvcError } from "@svc/contract";
import type { SopLibrary } from "../library/types.ts";
import type { CronMark, CronMarks } from "./cron-marks.ts";
import { type CronTimes, cronTimes } from "./cron-time.ts";
import type { SopCalendar, SopTimes } from "../runs/types.ts";

export interface CronSchedule {
  start(fire: FireCron): void;
  stop(): void;
  /** When it is due next, in milliseconds since the epoch; undefined: never again. */
  nextAtMs(trigger: CronTrigger): number | undefined;
}

export interface DueCron extends CronTrigger {
  /** Milliseconds since the epoch. */
  readonly dueMs: number;
  /** To be called inside the transaction that deals with it, whether or not a run comes of it. */
  noteIn(): void;
}

/** Rejects when nothing of it is on disk; it is due still then. */
export type FireCron = (due: DueCron) => Promise<void>;

export interface CronScheduleOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly marks: CronMarks;
  readonly library: Pick<SopLibrary, "crons" | "onChange">;
}

/** The longest time that a jump of the clock goes unnoticed, and that a disk that was full is left alone. */
const WAKE_MS = 30_000;
/** Slower changes of the wall clock are its being set right bit by bit. */
const JUMP_MS = 1000;

export const createCronSchedule = (options: CronScheduleOptions): CronSchedule => new Schedule(options);

interface Now {
  readonly wall: number;
  readonly monotonic: number;
}

class Schedule implements CronSchedule {
  readonly #options: CronScheduleOptions;
  #entries: ReadonlyMap<string, CronEntry> = new Map();
  #fire: FireCron | undefined;
  #cancelTimer = (): void => {};
  /** When it last looked. */
  #seen: Now = { wall: 0, monotonic: 0 };
  #forgetAt = 0;

  constructor(options: CronScheduleOptions) {
    this.#options = options;
    options.library.onChange(() => this.#fire && this.#refresh());
  }

  start(fire: FireCron): void {
    this.#fire = fire;
    this.#seen = this.#now();
    this.#forgetAt = this.#seen.monotonic + WAKE_MS;
    this.#refresh();
  }

  stop(): void {
    this.#fire = undefined;
    this.#cancelTimer();
  }

  nextAtMs(trigger: CronTrigger): number | undefined {
    // Known of a schedule that runs: to work out those of a thousand takes a quarter of a second.
    const nextMs = this.#entries.get(cronKey(trigger))?.nextMs ?? this.#nextOf(trigger);
    return nextMs === Infinity ? undefined : nextMs;
  }

  #nextOf({ expression, timezone }: CronTrigger): number | undefined {
    const times = cronTimes(expression, timezone);
    return "fault" in times ? undefined : times.nextAfter(this.#options.clock.now());
  }

  /** A trigger that was there stays as it is; one that comes back after it was gone counts from now. */
  #refresh(): void {
    const before = this.#entries;
    const entries = new Map<string, CronEntry>();
    for (const trigger of this.#options.library.crons()) {
      const entry = before.get(cronKey(trigger)) ?? this.#entryOf(trigger);
      if (entry) entries.set(entry.key, entry);
    }
    this.#entries = entries;
    this.#forget([...before.keys()]);
    this.#look();
  }

  #entryOf(trigger: CronTrigger): CronEntry | undefined {
    const { marks } = this.#options;
    const times = cronTimes(trigger.expression, trigger.timezone);
    if ("fault" in times) return undefined;
    const now = this.#now().wall;
    const entry = new CronEntry(trigger, times, marks.read(cronKey(trigger)), now);
    entry.setForward(now);
    this.#setBack(entry, now);
    return entry;
  }

  #setBack(entry: CronEntry, nowMs: number): void {
    if (!entry.setBack(nowMs)) return;
    this.#options.log.warn("the clock was ahead by more than a day; a cron trigger counts from now", logFields(entry));
  }

  #look(): void {
    const now = this.#now();
    const expected = this.#seen.wall + now.monotonic - this.#seen.monotonic;
    this.#seen = now;
    const idle = [...this.#entries.values()].filter(({ isFiring }) => !isFiring);
    if (now.wall < expected - JUMP_MS) for (const entry of idle) this.#setBack(entry, now.wall);
    if (now.wall > expected + JUMP_MS) for (const entry of idle) entry.setForward(now.wall);
    for (const entry of idle) {
      if (entry.nextMs <= now.wall && entry.notBefore <= now.monotonic) this.#due(entry, now.wall);
    }
    this.#keep(idle);
    if (this.#forgetAt <= now.monotonic) {
      this.#forgetAt = Infinity;
      this.#forget(this.#options.marks.keys());
    }
    this.#arm();
  }

  #arm(): void {
    const now = this.#now();
    let delayMs = WAKE_MS;
    for (const { nextMs, notBefore, isFiring } of this.#entries.values()) {
      if (!isFiring) delayMs = Math.min(delayMs, Math.max(nextMs - now.wall, notBefore - now.monotonic, 1));
    }
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(delayMs, () => this.#look());
  }

  #due(entry: CronEntry, nowMs: number): void {
    const { log } = this.#options;
    const { dueMs, isTooLate } = entry.latest(nowMs);
    if (isTooLate) {
      log.warn("a procedure was due more than a day ago and is not started for that", logFields(entry));
      entry.mark(entry.markOf(dueMs, false));
      entry.isUnkept = true;
      return;
    }
    if (dueMs > entry.nextMs)
      log.info("a procedure was due more than once meanwhile and is started once", logFields(entry));
    void this.#fireOne(entry, entry.markOf(dueMs, true));
  }

  async #fireOne(entry: CronEntry, mark: CronMark): Promise<void> {
    const { marks, log } = this.#options;
    entry.isFiring = true;
    try {
      // A trigger that was removed meanwhile leaves nothing.
      const noteIn = (): void => void (this.#entries.get(entry.key) === entry && marks.noteIn(entry.key, mark));
      await this.#fire?.({ ...entry.trigger, dueMs: mark.atMs, noteIn });
      entry.mark(mark);
      entry.isUnkept = false;
    } catch (error) {
      entry.isUnkept = true;
      entry.notBefore = this.#now().monotonic + WAKE_MS;
      const code = error instanceof SvcError ? error.code : undefined;
      log.warn("a procedure that is due could not be started; it is tried again", { ...logFields(entry), code });
    }
    entry.isFiring = false;
    if (this.#fire) this.#arm();
  }

  /** One that fires keeps its mark itself, in the transaction of the run: a write from here could undo it. */
  #keep(idle: readonly CronEntry[]): void {
    const { marks } = this.#options;
    const unkept = idle.filter(({ isUnkept, isFiring }) => isUnkept && !isFiring);
    if (unkept.length === 0) return;
    for (const entry of unkept) entry.isUnkept = false;
    const note = (): void => {
      for (const entry of unkept) if (!entry.isFiring) marks.noteIn(entry.key, entry.kept);
    };
    void marks.write(note).catch(() => unkept.forEach((entry) => (entry.isUnkept = true)));
  }

  /** A trigger that comes back one day would fire at once for the time it was away. */
  #forget(keys: readonly string[]): void {
    const { marks } = this.#options;
    const gone = (): string[] => keys.filter((key) => !this.#entries.has(key));
    if (gone().length === 0) return;
    void marks.write(() => gone().forEach((key) => marks.noteIn(key, undefined))).catch(() => {});
  }

  #now(): Now {
    const { clock } = this.#options;
    return { wall: clock.now(), monotonic: clock.monotonic() };
  }
}

const logFields = ({ trigger: { sop, expression } }: CronEntry) => ({ sop, expression });

// One cron trigger: up to when its times are dealt with, and when it is due.

/** What was due longer ago is not made up for; a clock that was ahead by more was wrong. */
const DAY_MS = 86_400_000;

export interface CronTrigger {
  readonly sop: string;
  readonly expression: string;
  readonly timezone: string | undefined;
}

/** The same trigger has the same key in every process. */
const cronKey = ({ sop, expression, timezone }: CronTrigger): string => `${sop} ${timezone ?? "UTC"} ${expression}`;

class CronEntry {
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

  /** `stored`: its mark on disk. Without one it counts from now. */
  constructor(trigger: CronTrigger, times: CronTimes, stored: CronMark | undefined, nowMs: number) {
    this.key = cronKey(trigger);
    this.trigger = trigger;
    this.#times = times;
    this.isUnkept = stored === undefined;
    this.#mark = stored ?? { atMs: nowMs, fired: false };
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

/** What cron starts in the next days. Bounded: a service may have thousands of triggers that are due every second. */
export interface CalendarOptions {
  readonly library: Pick<SopLibrary, "crons">;
  readonly cron: Pick<CronSchedule, "nextAtMs">;
  readonly nowMs: number;
  readonly days: number;
  /** Of this procedure alone. */
  readonly sop: string | undefined;
}

const MOST_TRIGGERS = 200;
/** Of one trigger. */
const MOST_TIMES = 48;
/** Of all of them: to work one out takes up to half a millisecond. */
const MOST_TIMES_IN_ALL = 1_000;

export function calendarOf({ library, cron, nowMs, days, sop }: CalendarOptions): SopCalendar {
  const untilMs = nowMs + days * DAY_MS;
  const due = library
    .crons()
    .filter((trigger) => sop === undefined || trigger.sop === sop)
    .flatMap((trigger) => {
      const nextMs = cron.nextAtMs(trigger);
      return nextMs === undefined || nextMs > untilMs ? [] : [{ trigger, nextMs: Math.max(nextMs, nowMs) }];
    })
    .toSorted((one, other) => one.nextMs - other.nextMs);
  const listed = due.slice(0, MOST_TRIGGERS);
  const most = Math.max(1, Math.min(MOST_TIMES, Math.floor(MOST_TIMES_IN_ALL / Math.max(1, listed.length))));
  const times = listed.map(({ trigger, nextMs }) => timesOf(trigger, nextMs, untilMs, most));
  return { fromMs: nowMs, untilMs, times, left: due.length - listed.length };
}

function timesOf(trigger: CronTrigger, firstMs: number, untilMs: number, most: number): SopTimes {
  const times = cronTimes(trigger.expression, trigger.timezone);
  const atMs = [firstMs];
  if ("fault" in times) return { ...trigger, atMs, hasMore: false };
  for (;;) {
    const next = times.nextAfter(atMs.at(-1)!);
    if (next === undefined || next > untilMs) return { ...trigger, atMs, hasMore: false };
    if (atMs.length === most) return { ...trigger, atMs, hasMore: true };
    atMs.push(next);
  }
}
