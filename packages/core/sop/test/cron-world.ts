/** Shared by the tests of the cron schedule: a machine that fires triggers, and what outlives its processes. */
import { SvcError } from "@svc/contract";
import { captureLogger } from "@svc/testkit/capture-logger";
import { type FakeClock, fakeClock, settled } from "@svc/testkit/fake-clock";
import { type CronSchedule, type CronTrigger, createCronSchedule } from "../src/triggers/cron-schedule.ts";
import type { CronMark, CronMarks } from "../src/triggers/cron-marks.ts";

const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** A Thursday. */
export const START = Date.UTC(2026, 0, 1, 8);

export const trigger = (sop: string, expression: string, timezone?: string): CronTrigger => ({
  sop,
  expression,
  timezone,
});
const at = (ms: number): string => new Date(ms).toISOString().slice(5, 19);

/** What outlives a process: the clock on the wall, and the disk. */
export class World {
  readonly clock: FakeClock = fakeClock(START);
  readonly log = captureLogger();
  readonly fired: string[] = [];
  readonly disk = new Map<string, CronMark>();
  make = createCronSchedule;
  crons: CronTrigger[] = [];
  isFull = false;
  /** Called in the middle of a transaction. */
  onFire = (): void => {};
  /** Awaited before it. */
  beforeFire = async (): Promise<void> => {};
  #changed = (): void => {};
  #process: CronSchedule | undefined;

  readonly marks: CronMarks = {
    keys: () => [...this.disk.keys()],
    read: (key) => this.disk.get(key),
    noteIn: (key, mark) => void (mark ? this.#written.set(key, mark) : this.#written.set(key, undefined)),
    write: async (change) => this.#transaction(change),
  };
  #written = new Map<string, CronMark | undefined>();

  #transaction(change: () => void): void {
    this.#written = new Map();
    change();
    if (this.isFull) throw new SvcError("STORE_FULL");
    for (const [key, mark] of this.#written) {
      if (mark) this.disk.set(key, mark);
      else this.disk.delete(key);
    }
  }

  start(): this {
    const library = { crons: () => this.crons, onChange: (listener: () => void) => void (this.#changed = listener) };
    this.#process = this.make({ clock: this.clock, log: this.log, marks: this.marks, library });
    this.#process.start(async ({ sop, dueMs, noteIn }) => {
      await this.beforeFire();
      this.#transaction(() => {
        noteIn();
        this.onFire();
      });
      this.fired.push(`${sop} ${at(dueMs)}`);
    });
    return this;
  }

  stop(): void {
    this.#process?.stop();
  }

  /** When it is due next. */
  readonly nextOf = (one: CronTrigger): number | undefined => this.#process?.nextAtMs(one);

  async change(crons: CronTrigger[]): Promise<void> {
    this.crons = crons;
    this.#changed();
    await settled();
  }

  /** The wall clock alone. */
  async set(ms: number): Promise<void> {
    this.clock.setWallClock(ms);
    await this.clock.advance(30 * SECOND);
  }

  /** What was fired since the last look. */
  news(): string[] {
    return this.fired.splice(0);
  }
}

export const world = (...crons: CronTrigger[]): World => {
  const made = new World();
  made.crons = crons;
  return made.start();
};
