// A time that is due starts its procedure once: not twice after a crash, a restart or a clock that was set back, and not never
// after one that was set forward or a night with the lid closed.
import { SvcError } from "@svc/contract";
import { openStore } from "@svc/store";
import { captureLogger, type FakeClock, fakeClock, settled } from "@svc/testkit";
import { describe, expect, test } from "vitest";
import type { CronTrigger } from "../src/triggers/cron-entry.ts";
import { type CronMark, cronMarks, type CronMarks } from "../src/triggers/cron-marks.ts";
import { createCronSchedule, type CronSchedule } from "../src/triggers/cron-schedule.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Thursday. */
const START = Date.UTC(2026, 0, 1, 8);

const trigger = (sop: string, expression: string, timezone?: string): CronTrigger => ({ sop, expression, timezone });
const at = (ms: number): string => new Date(ms).toISOString().slice(5, 19);

/** What outlives a process: the clock on the wall, and the disk. */
class World {
  readonly clock: FakeClock = fakeClock(START);
  readonly log = captureLogger();
  readonly fired: string[] = [];
  readonly disk = new Map<string, CronMark>();
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
    this.#process = createCronSchedule({ clock: this.clock, log: this.log, marks: this.marks, library });
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

const world = (...crons: CronTrigger[]): World => {
  const made = new World();
  made.crons = crons;
  return made.start();
};

describe("a time that is due", () => {
  test("is fired at that very time, each trigger by itself", async () => {
    const one = world(
      trigger("nine", "0 9 * * *"),
      trigger("often", "*/20 * * * *"),
      trigger("berlin", "0 10 * * *", "Europe/Berlin"),
    );
    await one.clock.advance(HOUR - 1);
    expect(one.news()).toEqual(["often 01-01T08:20:00", "often 01-01T08:40:00"]);
    await one.clock.advance(1);
    expect(one.news().toSorted()).toEqual(["berlin 01-01T09:00:00", "nine 01-01T09:00:00", "often 01-01T09:00:00"]);
    await one.clock.advance(DAY);
    expect(one.news().filter((line) => !line.startsWith("often"))).toHaveLength(2);
  });

  test("is not missed in summer time's nights", async () => {
    const one = world(trigger("night", "30 2 * * *", "Europe/Berlin"));
    for (const night of [Date.UTC(2026, 2, 28, 20), Date.UTC(2026, 9, 24, 20)]) {
      await one.set(night);
      one.news();
      await one.clock.advance(2 * DAY);
      expect(one.news()).toHaveLength(2);
    }
  });

  test("the same trigger twice in one procedure is one", async () => {
    const one = world(trigger("a", "0 9 * * *"), trigger("a", "0 9 * * *"), trigger("a", "0 9 * * *", "UTC"));
    await one.clock.advance(DAY);
    expect(one.news()).toEqual(["a 01-01T09:00:00"]);
  });

  test("nothing is fired, and no timer is left, once it is stopped", async () => {
    const one = world(trigger("a", "* * * * *"));
    await one.clock.advance(MINUTE);
    one.stop();
    await one.clock.advance(HOUR);
    expect(one.news()).toHaveLength(1);
    expect(one.clock.waiting).toBe(0);
  });
});

describe("a restart", () => {
  test("fires nothing again, and what was missed once", async () => {
    const one = world(trigger("a", "0 * * * *"));
    await one.clock.advance(HOUR);
    one.stop();
    one.start();
    await settled();
    expect(one.news()).toEqual(["a 01-01T09:00:00"]);
    one.stop();
    await one.clock.advance(5 * HOUR + MINUTE);
    one.start();
    await settled();
    expect(one.news()).toEqual(["a 01-01T14:00:00"]);
    expect(one.log.text()).toContain("more than once");
  });

  test("also before it was due for the first time", async () => {
    const one = world(trigger("a", "0 9 * * *"));
    await settled();
    one.stop();
    await one.clock.advance(2 * HOUR);
    one.start();
    await settled();
    expect(one.news()).toEqual(["a 01-01T09:00:00"]);
  });

  test("after a long time skips what is more than a day old, and says so", async () => {
    const one = world(trigger("weekly", "0 9 * * THU"), trigger("daily", "0 7 * * *"));
    await settled();
    one.stop();
    await one.clock.advance(30 * DAY);
    one.start();
    await settled();
    expect(one.news()).toEqual(["daily 01-31T07:00:00"]);
    const said = () => one.log.lines.filter(({ message }) => message.includes("more than a day ago")).length;
    expect(said()).toBe(1);
    one.stop();
    one.start();
    await settled();
    expect(said()).toBe(1);
    await one.clock.advance(5 * DAY + HOUR);
    expect(one.news().filter((line) => line.startsWith("weekly"))).toEqual(["weekly 02-05T09:00:00"]);
  });

  test("killed in the middle of it: the run and the mark are both there or both not", async () => {
    const one = world(trigger("a", "0 9 * * *"));
    one.onFire = () => {
      throw new Error("killed");
    };
    await one.clock.advance(HOUR);
    expect(one.news()).toEqual([]);
    one.stop();
    one.onFire = () => {};
    one.start();
    await settled();
    expect(one.news()).toEqual(["a 01-01T09:00:00"]);
    one.stop();
    one.start();
    await settled();
    expect(one.news()).toEqual([]);
  });
});

describe("a disk that is full", () => {
  test("puts it off, tries again every 30 seconds, and fires once", async () => {
    const one = world(trigger("a", "0 9 * * *"));
    await settled();
    one.isFull = true;
    await one.clock.advance(HOUR + 5 * MINUTE);
    expect(one.news()).toEqual([]);
    expect(one.log.lines.filter(({ fields }) => fields["code"] === "STORE_FULL").length).toBeLessThan(13);
    one.isFull = false;
    await one.clock.advance(MINUTE);
    expect(one.news()).toEqual(["a 01-01T09:00:00"]);
  });
});

describe("the clock jumps", () => {
  test("back: what was fired stays fired, what was not is still to come", async () => {
    const one = world(trigger("nine", "0 9 * * *"), trigger("noon", "0 12 * * *"));
    await one.clock.advance(90 * MINUTE);
    expect(one.news()).toEqual(["nine 01-01T09:00:00"]);
    await one.set(START);
    await one.clock.advance(DAY - HOUR);
    expect(one.news()).toEqual(["noon 01-01T12:00:00"]);
    await one.clock.advance(2 * HOUR);
    expect(one.news()).toEqual(["nine 01-02T09:00:00"]);
  });

  test("back, also while no process ran", async () => {
    const one = world(trigger("nine", "0 9 * * *"));
    await one.clock.advance(2 * HOUR);
    one.news();
    one.stop();
    one.clock.setWallClock(START);
    one.start();
    await one.clock.advance(DAY - HOUR);
    expect(one.news()).toEqual([]);
  });

  test("back by more than a day while no process ran: it counts from now", async () => {
    const one = world(trigger("nine", "0 9 * * *"));
    await one.set(START + 400 * DAY);
    one.news();
    one.stop();
    one.clock.setWallClock(START);
    one.start();
    await one.clock.advance(DAY);
    expect(one.news()).toEqual(["nine 01-01T09:00:00"]);
  });

  test("back, before a trigger was due for the first time: no day is skipped", async () => {
    const one = new World();
    one.clock.setWallClock(START + 2 * HOUR);
    one.crons = [trigger("nine", "0 9 * * *")];
    one.start();
    await one.set(START);
    await one.clock.advance(HOUR);
    expect(one.news()).toEqual(["nine 01-01T09:00:00"]);
  });

  test("back by more than a day: the clock was wrong, and it counts from now", async () => {
    const one = world(trigger("nine", "0 9 * * *"));
    await one.set(START + 400 * DAY);
    expect(one.news()).toHaveLength(1);
    await one.set(START);
    expect(one.log.text()).toContain("ahead by more than a day");
    await one.clock.advance(DAY);
    expect(one.news()).toEqual(["nine 01-01T09:00:00"]);
    await one.clock.advance(DAY);
    expect(one.news()).toEqual(["nine 01-02T09:00:00"]);
  });

  test("forward: the latest of what was missed, within half a minute", async () => {
    const one = world(trigger("a", "*/5 * * * *"));
    await one.set(START + 3 * HOUR + MINUTE);
    expect(one.news()).toEqual(["a 01-01T11:00:00"]);
    await one.clock.advance(5 * MINUTE);
    expect(one.news()).toEqual(["a 01-01T11:05:00"]);
  });
});

describe("procedures change", () => {
  test("one that comes counts from then, one that stays goes on, one that goes is forgotten", async () => {
    const [a, b] = [trigger("a", "0 9 * * *"), trigger("b", "0 9 * * *")];
    const one = world(a);
    await one.clock.advance(2 * HOUR);
    await one.change([a, b]);
    expect(one.news()).toEqual(["a 01-01T09:00:00"]);
    await one.change([b]);
    expect([...one.disk.keys()]).toEqual(["b UTC 0 9 * * *"]);
    await one.clock.advance(DAY);
    expect(one.news()).toEqual(["b 01-02T09:00:00"]);
    await one.change([a, b]);
    await settled();
    expect(one.news()).toEqual([]);
  });

  test("one that went while no process ran is forgotten too, but not while the procedures are still being read", async () => {
    const a = trigger("a", "0 9 * * *");
    const one = world(a);
    await settled();
    one.stop();
    await one.clock.advance(2 * HOUR);
    one.crons = [];
    one.start();
    await one.change([a]);
    expect(one.news()).toEqual(["a 01-01T09:00:00"]);
    one.stop();
    one.crons = [];
    one.start();
    await one.clock.advance(MINUTE);
    expect([...one.disk]).toEqual([]);
  });

  test("one that goes while it is being fired leaves nothing", async () => {
    const one = world(trigger("a", "0 9 * * *"));
    one.beforeFire = () => one.change([]);
    await one.clock.advance(HOUR);
    expect(one.news()).toHaveLength(1);
    expect([...one.disk]).toEqual([]);
  });

  test("another one changes while one is being fired: it is not fired a second time", async () => {
    const one = world(trigger("a", "0 9 * * *"));
    const gate = Promise.withResolvers<void>();
    one.beforeFire = () => gate.promise;
    await one.clock.advance(HOUR);
    await one.change([trigger("a", "0 9 * * *"), trigger("b", "0 10 * * *")]);
    gate.resolve();
    await one.clock.advance(MINUTE);
    expect(one.news()).toEqual(["a 01-01T09:00:00"]);
  });
});

test("a thousand triggers at the same second are fired once each, and looked at by one timer", async () => {
  const one = world(...Array.from({ length: 1000 }, (_one, index) => trigger(`s${index}`, "0 9 * * *")));
  expect(one.clock.waiting).toBe(1);
  await one.clock.advance(HOUR);
  expect(new Set(one.news()).size).toBe(1000);
  expect(one.clock.waiting).toBe(1);
});

test("on disk: marks are kept and rolled back with the transaction they are in", async () => {
  const store = openStore({ file: ":memory:", clock: fakeClock(), idempotency: { ttlMs: 1000, maxKeys: 10 } });
  const marks = cronMarks(store);
  await marks.write(() => marks.noteIn("a UTC * * * * *", { atMs: 5, fired: true }));
  await expect(
    marks.write(() => {
      marks.noteIn("a UTC * * * * *", { atMs: 9, fired: false });
      throw new SvcError("TURN_FAILED");
    }),
  ).rejects.toMatchObject({ code: "TURN_FAILED" });
  expect(marks.read("a UTC * * * * *")).toEqual({ atMs: 5, fired: true });
  expect(marks.keys()).toEqual(["a UTC * * * * *"]);
  await marks.write(() => marks.noteIn("a UTC * * * * *", undefined));
  expect(marks.read("a UTC * * * * *")).toBeUndefined();
  await store.state.set("sop-cron", "x", "nonsense");
  expect(marks.read("x")).toBeUndefined();
  store.close();
});
