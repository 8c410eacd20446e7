// Motors and distance sensors of a board that speaks JSON lines, and boards that another feature has to itself.
import type { Capability } from "@svc/contract";
import { RESERVED_BOARDS, type ReservedBoards } from "@svc/kit/hardware";
import { startJsonBoard } from "@svc/testkit/platforms/json-board";
import { expect, test } from "vitest";
import { registryOf } from "./registry.ts";

const signal = new AbortController().signal;
const bridge = (path: string) => [{ board: "arduino-uno", transport: "bridge", path }];

test("commands go out in mm/s, and a distance comes back in metres", async () => {
  await using board = await startJsonBoard();
  await using registry = await registryOf({ boards: bridge(board.path) });
  const motors = { left: 5, right: 6 };
  await registry.setMotors("arduino0", { motors, left: 0.25, right: -0.1, ttlMs: 499.6 }, signal);
  await registry.stopMotors("arduino0", motors, signal);
  expect(await registry.readDistance("arduino0", 7, signal)).toBe(1.234);
  expect(board.commands.map((line) => (JSON.parse(line) as { args: unknown }).args)).toEqual([
    { ...motors, left_speed: 250, right_speed: -100, ttl_ms: 500 },
    motors,
    { pin: 7 },
  ]);
  for (const line of board.commands) expect(Buffer.byteLength(line)).toBeLessThan(256);
});

test("null is nothing within range; what is no distance is an error", async () => {
  await using board = await startJsonBoard();
  await using registry = await registryOf({ boards: bridge(board.path) });
  board.distance = null;
  expect(await registry.readDistance("arduino0", 7, signal)).toBe(Number.POSITIVE_INFINITY);
  for (const wrong of [-1, 100_001, "far"]) {
    board.distance = wrong;
    await expect(registry.readDistance("arduino0", 7, signal)).rejects.toMatchObject({ code: "BOARD_FAILED" });
  }
});

test("a flood of reads delays neither the motors nor the switches, and is served in turn", async () => {
  await using board = await startJsonBoard();
  await using registry = await registryOf({ boards: bridge(board.path) });
  const motors = { left: 5, right: 6 };
  const read = (pin: number, isUrgent = false) => registry.readPin("arduino0", pin, { isUrgent, signal });
  const flood = Array.from({ length: 16 }, (_, pin) => read(pin));
  await expect(read(16)).rejects.toMatchObject({ code: "BOARD_BUSY" });
  const urgent = [20, 21, 22, 23, 24].map((pin) => read(pin, true));
  const set = registry.setMotors("arduino0", { motors, left: 0.1, right: 0.1, ttlMs: 500 }, signal);
  const gone = new AbortController();
  const cancelled = registry.readPin("arduino0", 25, { isUrgent: true, signal: gone.signal });
  const stop = registry.stopMotors("arduino0", motors, signal);
  gone.abort(new Error("not wanted"));
  await expect(cancelled).rejects.toThrow("not wanted");
  await Promise.all([...flood, ...urgent, set, stop]);
  const order = board.commands.map((line) => {
    const { cmd, args } = JSON.parse(line) as { readonly cmd: string; readonly args: { readonly pin?: number } };
    return args.pin ?? cmd;
  });
  // The first was under way. A movement never overtakes the stop that came after it.
  expect(order.slice(0, 9)).toEqual([0, "motor_set", "motor_stop", 20, 21, 22, 23, 1, 24]);
  expect(order.slice(9)).toEqual(Array.from({ length: 14 }, (_, index) => index + 2));
});

test("a closed registry takes no command, after those that it was given", async () => {
  await using board = await startJsonBoard();
  const registry = await registryOf({ boards: bridge(board.path) });
  const last = registry.readDistance("arduino0", 7, signal);
  const closed = registry.close();
  await expect(registry.readDistance("arduino0", 7, signal)).rejects.toMatchObject({ code: "BOARD_LOST" });
  expect(await last).toBe(1.234);
  await closed;
  await registry.close();
  expect(board.commands).toHaveLength(1);
});

test("a board that another feature has to itself can't be written to by tools", async () => {
  const reserved: ReservedBoards = { reasonFor: (alias) => (alias === "arduino0" ? "it is the robot's." : undefined) };
  const capabilities = <T>(capability: Capability<T>): readonly T[] =>
    capability === RESERVED_BOARDS ? [reserved as T] : [];
  await using registry = await registryOf({ capabilities });
  expect(() => registry.checkWritable("arduino0")).toThrow("arduino0 can't be written to: it is the robot's.");
  expect(() => registry.checkWritable("pico0")).not.toThrow();
});
