// Layer 4: the end of a movement's time, a monitor that was held up, a clock that jumped, and the life of a command.
import { fakeClock } from "@svc/testkit/fake-clock";
import { describe, expect, test } from "vitest";
import { keepAlive, Watchdog } from "../src/watchdog.ts";
import { startRobot } from "./robot.ts";

describe("Watchdog", () => {
  test("ends a movement after max_drive_duration", async () => {
    const clock = fakeClock();
    const watchdog = new Watchdog(clock);
    watchdog.begin({ maxDriveMs: 1000 });
    for (let ms = 0; ms < 960; ms += 40) {
      await clock.advance(40);
      expect(watchdog.check()).toBeUndefined();
    }
    await clock.advance(40);
    expect(watchdog.check()).toMatchObject({ reason: "time_limit", layer: 4 });
  });

  test("sees that it was held up, as by SIGSTOP", async () => {
    const clock = fakeClock();
    const watchdog = new Watchdog(clock);
    watchdog.begin({ maxDriveMs: 10_000 });
    await clock.advance(400);
    expect(watchdog.check()).toBeUndefined();
    await clock.advance(401);
    expect(watchdog.check()).toMatchObject({ reason: "late", layer: 4 });
  });

  test.each([-3600_000, 3600_000])("sees that the wall clock jumped by %s ms", async (jumpMs) => {
    const clock = fakeClock();
    const watchdog = new Watchdog(clock);
    watchdog.begin({ maxDriveMs: 10_000 });
    await clock.advance(40);
    expect(watchdog.check()).toBeUndefined();
    clock.setWallClock(clock.now() + jumpMs);
    await clock.advance(40);
    expect(watchdog.check()).toMatchObject({ reason: "time_jump", layer: 4 });
  });
});

describe("keepAlive", () => {
  test.each([
    [0.5, 10, 0.5, 500],
    [0.5, Number.POSITIVE_INFINITY, 0.5, 500],
    [0.5, 0.25, 0.5, 300],
    [0.5, 0.175, 0.5, 150],
    [0.5, 0.07, 0.2, 150],
    [0.5, 0, 0, 150],
    [0.5, -1, 0, 150],
  ])("%s m/s with %s m free: %s m/s for %s ms", (speed, free, safe, ttlMs) => {
    const command = keepAlive(speed, free);
    expect(command.speed).toBeCloseTo(safe, 5);
    expect(command.ttlMs).toBe(ttlMs);
  });

  test("a command that comes late, and is the last to come, ends before the minimum", () => {
    for (let free = 0; free < 3; free += 0.01) {
      const { speed, ttlMs } = keepAlive(2, free);
      expect((speed * (ttlMs + 200)) / 1000).toBeLessThanOrEqual(free + 0.001);
    }
  });
});

test("a robot that nobody commands any more stops by itself", async () => {
  await using one = await startRobot();
  one.robot.obstacles.length = 0;
  const moving = one.move({ distance: 2 });
  await one.clock.advance(600);
  one.robot.isCut = true;
  const cutMs = one.clock.monotonic();
  let lastMoveMs = 0;
  one.robot.onStep = ({ atMs }) => (lastMoveMs = atMs);
  expect(await moving).toMatchObject({ reason: "board_lost", layer: 4, confirmed: false });
  await one.clock.advance(1000);
  expect(one.robot.isStanding).toBe(true);
  expect(lastMoveMs - cutMs).toBeLessThanOrEqual(500 + 250);
});

test("the wall clock jumps during a movement: it stops", async () => {
  await using one = await startRobot();
  one.robot.obstacles.length = 0;
  const moving = one.move({ distance: 2 });
  await one.clock.advance(600);
  one.clock.setWallClock(one.clock.now() + 86_400_000);
  expect(await moving).toMatchObject({ reason: "time_jump", layer: 4 });
});
