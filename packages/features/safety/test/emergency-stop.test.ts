// Layer 5: the latch. It holds over restarts, whatever is stored, and only a person with a released switch resets it.
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { expect, test } from "vitest";
import { EmergencyStop } from "../src/emergency-stop.ts";
import { forever, passing, REQUEST, startRobot } from "./robot.ts";

const LATCH = { by: "a person", at: "2026-01-01T00:00:00.000Z" };

test("holds over a restart, until it is reset", async () => {
  const state = memorySecrets();
  const first = new EmergencyStop(state);
  await first.load();
  expect(first.latch).toBeUndefined();
  await first.engage(LATCH);
  const second = new EmergencyStop(state);
  await second.load();
  expect(second.latch).toEqual(LATCH);
  await expect(second.reset(false)).rejects.toMatchObject({ code: "SAFETY_LATCHED" });
  expect(await second.reset(true)).toBe(true);
  expect(await second.reset(true)).toBe(false);
  const third = new EmergencyStop(state);
  await third.load();
  expect(third.latch).toBeUndefined();
});

test("is latched where the store can't be read or holds something else, and where it can't be written", async () => {
  const fails = () => Promise.reject(new Error("disk"));
  const unreadable = new EmergencyStop({ ...memorySecrets(), get: fails });
  await expect(unreadable.load()).rejects.toThrow("disk");
  expect(unreadable.latch).toBeDefined();
  const state = memorySecrets();
  await state.set("latch", "garbage");
  const odd = new EmergencyStop(state);
  await odd.load();
  expect(odd.latch).toBeDefined();
  const readOnly = new EmergencyStop({ ...memorySecrets(), set: fails });
  await expect(readOnly.engage(LATCH)).rejects.toThrow("disk");
  await readOnly.load();
  expect(readOnly.latch).toEqual(LATCH);
});

test("a reset that can't be stored leaves it latched", async () => {
  const stop = new EmergencyStop({ ...memorySecrets(), delete: () => Promise.reject(new Error("disk")) });
  await stop.engage(LATCH);
  await expect(stop.reset(true)).rejects.toThrow("disk");
  expect(stop.latch).toEqual(LATCH);
});

test("the switch stops a movement, latches, and is released by a person alone", async () => {
  await using one = await startRobot();
  one.robot.obstacles.length = 0;
  const moving = one.move({ distance: 2 });
  await one.clock.advance(600);
  one.robot.isEmergencyStopPressed = true;
  expect(await moving).toMatchObject({ reason: "emergency_stop", layer: 5 });
  expect(one.drive.status()).toMatchObject({ state: "latched" });
  await expect(one.drive.drive(REQUEST, "an agent", forever)).rejects.toMatchObject({ code: "SAFETY_LATCHED" });
  await expect(one.drive.reset("a person", forever)).rejects.toMatchObject({ code: "SAFETY_LATCHED" });
  one.robot.isEmergencyStopPressed = false;
  await one.clock.advance(5000);
  await expect(one.drive.drive(REQUEST, "an agent", forever)).rejects.toMatchObject({ code: "SAFETY_LATCHED" });
  expect(await one.drive.reset("a person", forever)).toBe(true);
  expect(await one.move({ distance: 0.3 })).toMatchObject({ reason: "done" });
  expect(one.events.map(({ type }) => type)).toContain("safety-reset");
});

test("a person latches it without a switch; a switch that can't be read is not released", async () => {
  await using one = await startRobot();
  await passing(one.clock, one.drive.stop("a person", true));
  expect(one.drive.status()).toMatchObject({ state: "latched", latch: { by: "a person" } });
  one.robot.isCut = true;
  await one.clock.advance(1500);
  await expect(passing(one.clock, one.drive.reset("a person", forever))).rejects.toMatchObject({
    code: "SAFETY_LATCHED",
  });
});
