// Layer 2: sensors that say nothing, always the same, or later than they should.
import { fakeClock } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { limitsOf } from "../src/config.ts";
import { Sensing } from "../src/sensing.ts";
import { SimulatedRobot } from "../src/simulator.ts";
import { forever, startRobot } from "./robot.ts";

const LIMITS = limitsOf({
  enabled: true,
  min_obstacle_distance: 0.3,
  slow_zone_multiplier: 3,
  approach_speed_limit: 0.3,
  max_speed: 0.5,
  blind_mode_speed_limit: 0,
  max_drive_duration: 30,
  sensor_timeout_secs: 1,
  estop_pin: undefined,
  bump_pins: [],
  sensors: [],
});

function sensed() {
  const clock = fakeClock();
  const robot = new SimulatedRobot({ clock, seed: 1 });
  const way = { metres: 0 };
  return { clock, robot, way, sensing: new Sensing({ robot, clock, limits: LIMITS, odometer: () => way.metres }) };
}

test("what was never read can't be relied on", async () => {
  const { sensing } = sensed();
  expect(sensing.problem("forward")).toMatchObject({ reason: "sensor_stale", layer: 2 });
  expect(sensing.ahead("forward")).toBe(0);
  await sensing.cycle(forever);
  expect(sensing.problem("forward")).toBeUndefined();
  expect(sensing.ahead("forward")).toBeGreaterThan(0.3);
});

test("a reading holds for sensor_timeout_secs, and not a millisecond longer", async () => {
  const { clock, sensing } = sensed();
  await sensing.cycle(forever);
  await clock.advance(1000);
  expect(sensing.problem("forward")).toBeUndefined();
  await clock.advance(1);
  expect(sensing.problem("forward")).toMatchObject({
    reason: "sensor_stale",
    message: expect.stringContaining("1.0 s") as string,
  });
});

test("the way since a reading is taken off", async () => {
  const { robot, sensing, way } = sensed();
  robot.distort = () => 2;
  await sensing.cycle(forever);
  way.metres = 0.4;
  expect(sensing.ahead("forward")).toBeCloseTo(1.6, 5);
  expect(sensing.ahead("left")).toBe(2);
});

test("the same to the millimetre over 15 cm is frozen, with noise it is not", async () => {
  for (const isFrozen of [true, false]) {
    const { robot, sensing, way } = sensed();
    let count = 0;
    robot.distort = () => 2 + (isFrozen ? 0 : ((count += 1) % 7) / 1000);
    await sensing.cycle(forever);
    sensing.begin();
    for (let read = 0; read < 6; read += 1) {
      way.metres += 0.03;
      await sensing.cycle(forever);
    }
    expect(sensing.problem("forward")?.reason).toBe(isFrozen ? "sensor_frozen" : undefined);
  }
});

test("a slow robot's sensor is frozen after 0.4 s and 3 cm, and not while it stands", async () => {
  for (const [wayMetres, reason] of [
    [0.04, "sensor_frozen"],
    [0, undefined],
  ] as const) {
    const { clock, robot, sensing, way } = sensed();
    robot.distort = () => 2;
    await sensing.cycle(forever);
    sensing.begin();
    for (let read = 0; read < 10; read += 1) {
      way.metres += wayMetres / 10;
      await clock.advance(39);
      await sensing.cycle(forever);
    }
    expect(sensing.problem("forward")).toBeUndefined();
    await clock.advance(10);
    expect(sensing.problem("forward")?.reason).toBe(reason);
  }
});

test("a switch and a sensor that don't count for the direction are not read while it moves", async () => {
  const { robot, sensing } = sensed();
  const read: string[] = [];
  const { readBumper, readDistance } = robot;
  robot.readBumper = (index, signal) => (read.push(robot.bumpers[index]!.name), readBumper.call(robot, index, signal));
  robot.readDistance = (index, signal) => (
    read.push(robot.distanceSensors[index]!.name),
    readDistance.call(robot, index, signal)
  );
  await Promise.all([sensing.readSwitches(forever, "forward"), sensing.readDistances(forever, "forward")]);
  expect(read.toSorted()).toEqual(["distance at -30°", "distance at 0°", "distance at 30°", "front bumper"]);
  expect(sensing.problem("forward")).toBeUndefined();
  expect(sensing.problem("backward")).toMatchObject({ reason: "sensor_stale" });
});

test("nothing within range is no frozen sensor", async () => {
  const { robot, sensing, way } = sensed();
  robot.distort = () => Number.POSITIVE_INFINITY;
  for (let read = 0; read < 9; read += 1) {
    way.metres += 0.1;
    await sensing.cycle(forever);
  }
  expect(sensing.problem("forward")).toBeUndefined();
});

test("a robot whose line goes silent stops within sensor_timeout_secs", async () => {
  await using one = await startRobot();
  one.robot.obstacles.length = 0;
  const moving = one.move({ distance: 2 });
  await one.clock.advance(400);
  one.robot.distort = () => {
    throw new Error("no echo");
  };
  const silentAt = one.clock.monotonic();
  expect(await moving).toMatchObject({ reason: "sensor_stale", layer: 2 });
  expect(one.events.at(-1)).toMatchObject({
    type: "safety-stop",
    message: expect.stringContaining("no echo") as string,
  });
  expect(one.clock.monotonic() - silentAt).toBeLessThanOrEqual(1200);
});

test("a robot whose sensor freezes stops", async () => {
  await using one = await startRobot();
  one.robot.obstacles.length = 0;
  one.robot.distort = (metres, index) => (index === 0 ? 2.5 : metres);
  expect(await one.move({ distance: 2 })).toMatchObject({ reason: "sensor_frozen", layer: 2 });
});
