// Layer 1: whether the robot may go, how fast and how far.
import { vectorCases } from "@svc/testkit/vectors";
import { describe, expect, test } from "vitest";
import { allowedSpeed, checkMove, type MoveRequest, speedFactor } from "../src/pre-move.ts";
import { facesDirection } from "../src/robot.ts";
import { passing, startRobot } from "./robot.ts";

const LIMITS = {
  minDistance: 0.3,
  slowDistance: 0.9,
  approachSpeed: 0.3,
  maxSpeed: 0.5,
  blindSpeed: 0,
  maxDriveMs: 30_000,
  sensorTimeoutMs: 1000,
};
const REQUEST: MoveRequest = { direction: "forward", speed: 0.5, distance: 1, seconds: undefined };

describe("the vectors", () => {
  const cases = new Map(vectorCases("safety.speed_limit").map((one) => [one.name, one]));
  const inputOf = (name: string) => cases.get(name)!.input as Record<string, number>;

  test.each(["d_2.0", "d_0.6", "d_0.3"])("%s", (name) => {
    const { min_obstacle_distance: min, slow_zone_multiplier: times, distance } = inputOf(name);
    const { speed_limit: expected, tolerance } = cases.get(name)!.expected as Record<string, number>;
    const factor = speedFactor(distance!, { minDistance: min!, slowDistance: min! * times! });
    expect(Math.abs(factor - expected!)).toBeLessThanOrEqual(tolerance!);
  });

  test("block_on_obstacle", () => {
    const { min_obstacle_distance: min, distance } = inputOf("block_on_obstacle");
    const refusal = checkMove({ ...REQUEST, speed: 1 }, distance, { ...LIMITS, minDistance: min! });
    expect(refusal).toMatchObject({ reason: "obstacle", message: expect.stringContaining("0.20") as string });
  });

  test("stop_always_allowed", async () => {
    expect(cases.get("stop_always_allowed")!.expected).toEqual({ allowed: true });
    await using one = await startRobot();
    one.robot.isEmergencyStopPressed = true;
    await one.clock.advance(600);
    expect(one.drive.status().state).toBe("latched");
    expect(await passing(one.clock, one.drive.stop("a test"))).toMatchObject({ confirmed: true });
  });

  test("watchdog_stops_motors", async () => {
    const { max_drive_duration: seconds, seconds_since_last_command: after } = inputOf("watchdog_stops_motors");
    await using one = await startRobot({ section: { max_drive_duration: seconds } });
    one.robot.obstacles.length = 0;
    // Around and around, so that nothing else ends it.
    const turning = one.move({ direction: "left", speed: 0.1, distance: undefined, seconds: undefined });
    await one.clock.advance(after! * 1000);
    expect(one.robot.isStanding).toBe(true);
    expect(await turning).toMatchObject({ reason: "time_limit", layer: 4 });
  });
});

test("names both numbers where it refuses", () => {
  expect(checkMove(REQUEST, 0.25, LIMITS)).toEqual({
    reason: "obstacle",
    message: "The nearest obstacle ahead is 0.25 m away; the minimum is 0.30 m.",
  });
});

test("shortens a way that is longer than what is free, and says so", () => {
  expect(checkMove(REQUEST, 0.8, LIMITS)).toMatchObject({
    distance: 0.5,
    notes: ["Only 0.50 m are free; the way was shortened from 1.00 m."],
  });
  expect(checkMove(REQUEST, 3, LIMITS)).toMatchObject({ distance: 1, notes: [] });
});

test("limits speed and time, and says so", () => {
  expect(
    checkMove({ ...REQUEST, speed: 2, distance: undefined, seconds: 99 }, Number.POSITIVE_INFINITY, LIMITS),
  ).toMatchObject({
    durationMs: 30_000,
    notes: ["The speed was limited to max_speed, 0.5 m/s.", "The time was limited to max_drive_duration, 30 s."],
  });
});

test("does not go where no sensor looks, unless the config allows a speed there", () => {
  expect(checkMove(REQUEST, undefined, LIMITS)).toMatchObject({ reason: "blind" });
  expect(checkMove(REQUEST, undefined, { ...LIMITS, blindSpeed: 0.1 })).toMatchObject({ distance: 1 });
  expect(allowedSpeed("forward", 0.5, undefined, { ...LIMITS, blindSpeed: 0.1 })).toBe(0.1);
});

test.each([
  [2, 0.5],
  [0.9, 0.5],
  [0.89, 0.3],
  [0.6, 0.25],
  [0.36, 0.05],
  [0.3, 0],
  [0.1, 0],
])("grants at %s m ahead %s m/s", (ahead, speed) => {
  expect(allowedSpeed("forward", 0.5, ahead, LIMITS)).toBeCloseTo(speed, 5);
});

test("turns slowly, and not with an obstacle at that side", () => {
  expect(allowedSpeed("left", 0.5, 2, LIMITS)).toBe(0.3);
  expect(checkMove({ ...REQUEST, direction: "left" }, 0.2, LIMITS)).toMatchObject({ reason: "obstacle" });
  expect(checkMove({ ...REQUEST, direction: "left" }, undefined, LIMITS)).toMatchObject({ distance: 1 });
});

test.each([
  [0, "forward", true],
  [45, "forward", true],
  [-45, "forward", true],
  [315, "forward", true],
  [46, "forward", false],
  [180, "forward", false],
  [-180, "backward", true],
  [150, "backward", true],
  [90, "right", true],
  [-90, "left", true],
  [270, "left", true],
  [90, "left", false],
] as const)("a sensor at %s° counts for %s: %s", (angle, direction, expected) => {
  expect(facesDirection({ name: "", angle }, direction)).toBe(expected);
});
