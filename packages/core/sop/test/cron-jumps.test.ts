// A clock that is set: what was fired must not be fired again, and no day may be skipped.
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, START, trigger, World, world } from "./cron-world.ts";

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
