/**
 * Fires cron triggers. Timers are only a reason to look: what is due is what the wall clock says, and that may jump, stand
 * still while the machine sleeps, or have been wrong all the time. Each time is fired once; times that were missed come
 * down to the latest of them.
 */
import { type Clock, type Logger, SvcError } from "@svc/contract";
import type { SopLibrary } from "../library/types.ts";
import { CronEntry, cronKey, type CronTrigger } from "./cron-entry.ts";
import type { CronMark, CronMarks } from "./cron-marks.ts";
import { cronTimes } from "./cron-time.ts";

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
    this.#options.log.warn("the clock was ahead by more than a day; a cron trigger counts from now", told(entry));
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
      log.warn("a procedure was due more than a day ago and is not started for that", told(entry));
      entry.mark(entry.markOf(dueMs, false));
      entry.isUnkept = true;
      return;
    }
    if (dueMs > entry.nextMs) log.info("a procedure was due more than once meanwhile and is started once", told(entry));
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
      log.warn("a procedure that is due could not be started; it is tried again", { ...told(entry), code });
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

const told = ({ trigger: { sop, expression } }: CronEntry) => ({ sop, expression });
