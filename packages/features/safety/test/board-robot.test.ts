// A robot on boards: which pins are asked, what their levels mean, and that nothing moves where the boards are not there.
import { type Capability, SvcError } from "@svc/contract";
import { BOARDS, type Boards, MOTOR_BOARDS, type MotorBoards, RESERVED_BOARDS } from "@svc/kit/hardware";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import * as v from "valibot";
import { expect, test } from "vitest";
import { BoardRobot } from "../src/board-robot.ts";
import { safetyConfig } from "../src/config.ts";
import { create, survey } from "../src/safety.ts";
import { forever } from "./robot.ts";

const CONFIG = v.parse(safetyConfig, {
  drive: { board: "arduino0", left: 5, right: 6 },
  estop_pin: 2,
  bump_pins: [3],
  sensors: [
    { board: "arduino0", kind: "distance", pin: 7 },
    { board: "pico0", kind: "distance", pin: 8, angle: 180 },
    { board: "pico0", kind: "bump", pin: 9, angle: 180 },
  ],
});

function boardsWith(levels: Readonly<Record<number, 0 | 1>>) {
  const calls: unknown[] = [];
  const boards: Pick<Boards, "readPin"> & MotorBoards = {
    readPin: async (alias, pin, { pull, isUrgent }) => {
      calls.push([alias, pin, pull, isUrgent ? "urgent" : "ordinary"]);
      return levels[pin] ?? 1;
    },
    setMotors: async (alias, command) => void calls.push([alias, command]),
    stopMotors: async (alias, motors) => void calls.push([alias, motors]),
    readDistance: async (alias, pin) => {
      calls.push([alias, pin]);
      return 1.5;
    },
  };
  const capabilities = <T>(capability: Capability<T>): readonly T[] =>
    capability === BOARDS || capability === MOTOR_BOARDS ? [boards as T] : [];
  return { calls, capabilities };
}

test("asks the boards of the section, with pull-up resistors for switches", async () => {
  const { calls, capabilities } = boardsWith({ 2: 0, 3: 1, 9: 0 });
  const robot = new BoardRobot(CONFIG, { capabilities });
  expect(robot.distanceSensors.map(({ angle }) => angle)).toEqual([0, 180]);
  expect(robot.bumpers.map(({ angle }) => angle)).toEqual([0, 180]);
  expect(await robot.readDistance(1, forever)).toBe(1.5);
  expect(await robot.readBumper(0, forever)).toBe(false);
  expect(await robot.readBumper(1, forever)).toBe(true);
  expect(await robot.readEmergencyStop(forever)).toBe(false);
  await robot.setMotors({ left: 0.2, right: -0.2 }, 500, forever);
  await robot.stopMotors(forever);
  const motors = { left: 5, right: 6 };
  expect(calls).toEqual([
    ["pico0", 8],
    ["arduino0", 3, "up", "urgent"],
    ["pico0", 9, "up", "urgent"],
    ["arduino0", 2, "up", "urgent"],
    ["arduino0", { motors, left: 0.2, right: -0.2, ttlMs: 500 }],
    ["arduino0", motors],
  ]);
});

test("a cut wire of the emergency stop is a pressed switch", async () => {
  const { capabilities } = boardsWith({ 2: 1 });
  expect(await new BoardRobot(CONFIG, { capabilities }).readEmergencyStop(forever)).toBe(true);
});

test("without boards in service every command fails", async () => {
  const robot = new BoardRobot(CONFIG, { capabilities: () => [] });
  await expect(robot.setMotors({ left: 1, right: 1 }, 500, forever)).rejects.toBeInstanceOf(SvcError);
  await expect(robot.readEmergencyStop(forever)).rejects.toMatchObject({ code: "FEATURE_DOWN" });
});

test("the boards are reserved, others are not, and each reload makes the feature anew", async () => {
  const { provides = [] } = create(fakeFeatureContext(CONFIG));
  const reserved = provides.find(({ capability }) => capability.id === RESERVED_BOARDS.id)!.value as {
    reasonFor(alias: string): string | undefined;
  };
  expect(["arduino0", "pico0", "pico1"].map((alias) => reserved.reasonFor(alias) !== undefined)).toEqual([
    true,
    true,
    false,
  ]);
  expect(await survey()).not.toBe(await survey());
});
