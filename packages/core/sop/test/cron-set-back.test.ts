// A machine without a clock of its own boots decades back and is set right a minute later: what was fired before it was
// switched off must not be fired again for that. And a clock that was a month ahead must not cost the day it had been at.
import { captureLogger } from "@svc/testkit/capture-logger";
import { type FakeClock, fakeClock, settled } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import type { CronMark } from "../src/triggers/cron-marks.ts";
import { createCronSchedule, type CronSchedule } from "../src/triggers/cron-schedule.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 5, 1, 8);

interface Machine {
  readonly clock: FakeClock;
  readonly fired: readonly string[];
  boot(atMs: number): void;
  off(): void;
  /** The schedule has looked. */
  set(atMs: number): Promise<void>;
}

function machine(): Machine {
  const clock = fakeClock(NOW);
  const disk = new Map<string, CronMark>();
  const fired: string[] = [];
  let running: CronSchedule | undefined;
  const marks = {
    keys: () => [...disk.keys()],
    read: (key: string) => disk.get(key),
    noteIn: (key: string, mark: CronMark | undefined) => void (mark && disk.set(key, mark)),
    write: async (change: () => void) => change(),
  };
  const crons = [{ sop: "nine", expression: "0 9 * * *", timezone: undefined }];
  const library = { crons: () => crons, onChange: () => {} };
  return {
    clock,
    fired,
    boot(atMs) {
      clock.setWallClock(atMs);
      running = createCronSchedule({ clock, log: captureLogger(), marks, library });
      running.start(async ({ dueMs, noteIn }) => {
        noteIn();
        fired.push(new Date(dueMs).toISOString().slice(0, 10));
      });
    },
    off: () => running?.stop(),
    async set(atMs) {
      clock.setWallClock(atMs);
      await clock.advance(30_000);
      await settled();
    },
  };
}

/** As the first days of 1970, but for a time that is due meanwhile. */
const LOST = Date.UTC(2020, 0, 1, 8);

test.each([
  { how: "while it runs", restart: false },
  { how: "over a restart", restart: true },
])(
  "set back by years and right again $how: nothing is fired twice, and the next day not left out",
  async ({ restart }) => {
    const one = machine();
    one.boot(NOW);
    await one.clock.advance(2 * HOUR);
    one.off();
    one.boot(LOST);
    await one.clock.advance(2 * HOUR);
    if (restart) {
      one.off();
      one.boot(NOW + 3 * HOUR);
    }
    await one.set(NOW + 3 * HOUR);
    expect(one.fired).toEqual(["2026-06-01", "2020-01-01"]);
    await one.clock.advance(DAY);
    expect(one.fired).toEqual(["2026-06-01", "2020-01-01", "2026-06-02"]);
  },
);

test("ahead by a month and right again: the day that it had been at has its time when it comes", async () => {
  const one = machine();
  one.boot(NOW);
  await one.set(NOW + 30 * DAY + 2 * HOUR);
  expect(one.fired).toEqual(["2026-07-01"]);
  await one.set(NOW);
  await one.clock.advance(31 * DAY);
  expect(one.fired.slice(1)).toHaveLength(31);
  expect(one.fired.at(-1)).toBe("2026-07-01");
});
