// The schedule is loaded when there is a cron trigger: one that comes later must fire, one that went must leave nothing that fires
// when it comes back, and a stop in the middle of the loading must be one.
import { settled } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { lateCronSchedule } from "../src/triggers/late-cron-schedule.ts";
import { HOUR, START, trigger, World } from "./cron-world.ts";

const NINE = trigger("a", "0 9 * * *");

function late(): World {
  const one = new World();
  one.make = lateCronSchedule;
  return one;
}

/** What is imported takes more than a few microtasks. */
const loaded = async (): Promise<void> => {
  await import("../src/triggers/cron-schedule.ts");
  await settled();
};

test("without a trigger nothing waits; the first to come fires, and is told when it is due", async () => {
  const one = late().start();
  await loaded();
  expect(one.clock.waiting).toBe(0);
  await one.change([NINE]);
  await loaded();
  expect(one.nextOf(NINE)).toBe(START + HOUR);
  await one.clock.advance(HOUR);
  expect(one.news()).toEqual(["a 01-01T09:00:00"]);
  one.stop();
  expect(one.clock.waiting).toBe(0);
});

test("the mark of a trigger that is gone is forgotten, though there is none left", async () => {
  const one = late();
  one.disk.set("a UTC 0 7 * * *", { atMs: START - 2 * HOUR, fired: false });
  one.start();
  await loaded();
  await one.clock.advance(HOUR);
  expect([...one.disk.keys()]).toEqual([]);
  await one.change([trigger("a", "0 7 * * *")]);
  expect(one.news()).toEqual([]);
});

test("stopped while it is loaded it fires nothing, and started again it does", async () => {
  const one = late();
  one.crons = [NINE];
  one.start();
  one.stop();
  await loaded();
  await one.clock.advance(2 * HOUR);
  expect([one.news(), one.clock.waiting]).toEqual([[], 0]);
  one.start();
  await loaded();
  expect(one.nextOf(NINE)).toBe(START + 25 * HOUR);
});
