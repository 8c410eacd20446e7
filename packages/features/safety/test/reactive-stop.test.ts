// Layer 3: an obstacle below the minimum or a bump stops the motors, whatever was asked for.
import { expect, test } from "vitest";
import { reactiveStop } from "../src/reactive-stop.ts";
import { REQUEST, forever, startRobot } from "./robot.ts";

const LIMITS = { minDistance: 0.3 };

test("an obstacle below the minimum, a bump, and neither", () => {
  expect(reactiveStop("forward", { ahead: 0.29, isBumped: false }, LIMITS)).toMatchObject({
    reason: "obstacle",
    layer: 3,
  });
  expect(reactiveStop("forward", { ahead: 0.3, isBumped: false }, LIMITS)).toBeUndefined();
  expect(reactiveStop("left", { ahead: 0.1, isBumped: false }, LIMITS)).toBeUndefined();
  expect(reactiveStop("left", { ahead: 3, isBumped: true }, LIMITS)).toMatchObject({ reason: "bump", layer: 3 });
  expect(reactiveStop("forward", { ahead: undefined, isBumped: false }, LIMITS)).toBeUndefined();
});

test("somebody steps in front of the robot: it stops within two control periods", async () => {
  await using one = await startRobot();
  one.robot.obstacles.length = 0;
  const moving = one.move({ distance: 2 });
  await one.clock.advance(1200);
  const { x, y } = one.robot.scene().robot;
  one.robot.obstacles.push({ x: x + 0.45, y, radius: 0.2 });
  const steppedMs = one.clock.monotonic();
  let lastMoveMs = 0;
  one.robot.onStep = ({ atMs }) => (lastMoveMs = atMs);
  expect(await moving).toMatchObject({ reason: "obstacle", layer: 3 });
  // Two periods, one round of the sensors, and 0.25 s to brake from 0.5 m/s.
  expect(lastMoveMs - steppedMs).toBeLessThanOrEqual(2 * 40 + 20 + 250);
});

test("held until the way is clear, and until it is asked again", async () => {
  await using one = await startRobot();
  one.robot.obstacles.length = 0;
  const { x, y } = one.robot.scene().robot;
  const person = { x: x + 0.45, y, radius: 0.2 };
  one.robot.obstacles.push(person);
  await expect(one.drive.drive(REQUEST, "a test", forever)).rejects.toMatchObject({ code: "SAFETY_REFUSED" });
  one.robot.obstacles.length = 0;
  await one.clock.advance(1000);
  expect(one.robot.isStanding).toBe(true);
  expect(await one.move({ distance: 0.2 })).toMatchObject({ reason: "done" });
});

test("a sensor that lies within its limits: the bump switch stops the robot", async () => {
  await using one = await startRobot();
  one.robot.obstacles.length = 0;
  let count = 0;
  one.robot.distort = () => 3.9 + ((count += 1) % 5) / 1000;
  expect(await one.move({ distance: undefined, seconds: 29, speed: 0.3 })).toMatchObject({ reason: "bump", layer: 3 });
});
