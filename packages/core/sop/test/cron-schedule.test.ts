// A time that is due starts its procedure once: not twice after a crash or a restart, and not never after a night with the lid
// closed.
import { settled } from "@svc/testkit/fake-clock";
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, START, trigger, world } from "./cron-world.ts";

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

describe("the next time", () => {
  test("of a trigger that is watched is when it is fired, of any other one worked out, of one that is never due none", async () => {
    const [nine, never] = [trigger("a", "0 9 * * *"), trigger("a", "0 0 30 2 *")];
    const one = world(nine, never);
    expect([nine, never, trigger("b", "0 9 * * *", "Europe/Berlin"), trigger("b", "x")].map(one.nextOf)).toEqual([
      START + HOUR,
      undefined,
      START + 24 * HOUR,
      undefined,
    ]);
    await one.clock.advance(2 * HOUR);
    expect(one.nextOf(nine)).toBe(START + HOUR + DAY);
    one.stop();
  });
});
